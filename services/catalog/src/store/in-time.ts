import { unavailable } from "@lapse/kit";

/**
 * What the object store answers, if it does within `ms`: a store that hangs must not hang its callers. What was asked for
 * may still happen later, so it is something that may.
 *
 * @throws unavailable `OBJECT_STORE_UNAVAILABLE`.
 */
export async function inTime<T>(answer: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(silent(ms)), ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

const silent = (ms: number) =>
  unavailable(
    "OBJECT_STORE_UNAVAILABLE",
    `the object store has not answered for ${ms / 1_000} seconds; repeat the call`,
  );
