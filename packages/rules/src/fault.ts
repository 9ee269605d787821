/** Why a value was refused: a stable slug for programs, and a sentence for people that says what to do instead. */
export interface Fault<Reason extends string = string> {
  readonly reason: Reason;
  readonly message: string;
}

/** A value that passed its checks, or what is wrong with it. */
export type Checked<Value, F extends Fault = Fault> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly fault: F };

const SHOWN_CHARACTERS = 40;

/** A refused value as a message may repeat it: text quoted, escaped and cut at 40 characters, never an object's content. */
export function shown(value: unknown): string {
  switch (typeof value) {
    case "string":
      return value.length > SHOWN_CHARACTERS
        ? `${JSON.stringify(value.slice(0, SHOWN_CHARACTERS))}…`
        : JSON.stringify(value);
    case "number":
    case "boolean":
      return String(value);
    default:
      return value === null || value === undefined ? "nothing" : "a value of another type";
  }
}
