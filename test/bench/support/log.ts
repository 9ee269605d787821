import { createLogger } from "@lapse/kit";

/** Says only what must not happen in a bench. */
export const log = createLogger({ service: "bench", level: "error" });
