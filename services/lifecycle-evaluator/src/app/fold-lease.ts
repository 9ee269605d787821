/** Who holds it folds the streams; one process at a time, so that a message counts once. */
export const FOLD_LEASE = "fold";
