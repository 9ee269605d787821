/** What this service is called in decisions, logs and metrics. */
export const SERVICE = "catalog";
