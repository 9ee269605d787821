/** Makes the run's folder (TEST_RUN_DIR, inherited by Jest's workers) and starts its guard. */
export function startRun(): Promise<void>;
/** Ends every server of the run and removes its folder; resolves when that is done. */
export function endRun(): Promise<void>;
