/** Names this service in decisions, events and metrics. */
export const SERVICE = "lifecycle-evaluator";
