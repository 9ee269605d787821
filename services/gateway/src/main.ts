import { runService } from "@lapse/kit";
import { readSettings } from "./config.ts";
import { startGateway } from "./service.ts";

await runService({
  name: "gateway",
  settings: () => readSettings(process.env),
  start: async ({ settings, ...deps }) => {
    const ports = await startGateway(settings, deps);
    deps.log.info({ ...ports }, "serving");
  },
});
