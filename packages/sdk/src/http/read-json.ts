/**
 * Parses an answer. Counts and versions are JSON numbers, which the gateway gives up to 2^53 − 1 only; should a
 * larger whole number come all the same, it is refused and never rounded.
 *
 * @throws {RangeError} for a whole number that a double does not hold; {@link SyntaxError} for what is no JSON.
 */
export function readJson(text: string): unknown {
  return JSON.parse(text, exactly);
}

function exactly(key: string, value: unknown): unknown {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new RangeError(`${key} is ${value}, which is too large to be read without loss`);
  }
  return value;
}
