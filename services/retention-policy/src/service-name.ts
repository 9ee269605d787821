/** This service's name: in its decisions, its subjects and the source of its events. */
export const SERVICE = "retention-policy";
