import { runService } from "@lapse/kit";
import { loadGatewaySettings } from "./config.ts";
import { startGateway } from "./service.ts";

await runService({
  name: "gateway",
  settings: () => loadGatewaySettings(process.env),
  start: async (service) => {
    await startGateway(service);
  },
});
