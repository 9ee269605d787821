import { runService } from "@lapse/kit";
import { readSettings } from "./config.ts";
import { startRetentionPolicy } from "./service.ts";
import { SERVICE } from "./service-name.ts";

await runService({
  name: SERVICE,
  settings: () => readSettings(process.env),
  start: async ({ settings, ...deps }) => {
    await startRetentionPolicy(settings, deps);
  },
});
