/**
 * What kind of failure a store reports, the same for every adapter:
 *
 * - `not_found`: the bucket, or the object of a `get`, is not there.
 * - `precondition`: the state of the store forbids it now (an `ifNoneMatch` or `ifMatch` that does
 *   not hold, a bucket that is not empty); the same call may succeed after the state changed.
 * - `invalid`: wrong whatever the state (a malformed name, a range outside the object).
 * - `unavailable`: the store could not do it (full, no permission, unreachable, input/output
 *   error); the very same call may be repeated.
 */
export type ObjectStoreErrorKind = "not_found" | "precondition" | "invalid" | "unavailable";

/** The one error of an object store; `message` is a sentence for people, `kind` is for programs. */
export class ObjectStoreError extends Error {
  override readonly name = "ObjectStoreError";
  readonly kind: ObjectStoreErrorKind;

  constructor(kind: ObjectStoreErrorKind, sentence: string, options?: ErrorOptions) {
    super(sentence, options);
    this.kind = kind;
  }
}

/** Quotes an outside name for a sentence: control characters escaped, length bounded (rule 8). */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name);
}
