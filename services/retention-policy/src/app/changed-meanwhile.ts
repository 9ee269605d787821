import { conflict, LapseError } from "@lapse/kit";

const CHANGED_MEANWHILE = "RETENTION_CHANGED_MEANWHILE";

/** What a change is refused with that was overtaken between its judgement and its commit. */
export function changedMeanwhile(name: string): LapseError {
  return conflict(
    CHANGED_MEANWHILE,
    `the retention of ${name} was changed meanwhile; look at it and set it again`,
  );
}

/** Runs `attempt`, and once more where it was overtaken: with a new touch it comes after what overtook it. */
export async function onceMoreIfChanged<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof LapseError && error.reason === CHANGED_MEANWHILE) {
      return attempt();
    }
    throw error;
  }
}
