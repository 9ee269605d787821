export { startRun as default } from "./run.mjs";
