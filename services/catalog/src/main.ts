import { runService } from "@lapse/kit";
import { readSettings } from "./config.ts";
import { startCatalog } from "./service.ts";
import { SERVICE } from "./service-name.ts";

await runService({
  name: SERVICE,
  settings: () => readSettings(process.env),
  start: async ({ settings, ...deps }) => {
    await startCatalog(settings, deps);
  },
});
