import { type Refusal, refuse } from "./refusal.ts";
import { qualifiedName, type Table } from "./table.ts";

/** A table that is there, or can still come back, where something around it is to be deleted (T31). */
type Blocker = Pick<Table, "namespace" | "name" | "state" | "drop">;

export interface Blockers {
  /** The first of them. */
  readonly shown: readonly Blocker[];
  /** How many there are, counted up to {@link MAX_COUNTED}. */
  readonly total: number;
}

export const SHOWN_BLOCKERS = 10;
export const MAX_COUNTED = 10_000;
/** A refusal travels in the headers of an answer, and names can be long. */
const MAX_LISTED_BYTES = 2_000;

/**
 * Why an environment or a namespace is not deleted: what is in it, in which state, and when it is gone. `what` says which,
 * e.g. `namespace bronze`.
 */
export function notEmpty(what: string, { shown, total }: Blockers, now: Date): Refusal {
  const counted = total >= MAX_COUNTED ? `at least ${MAX_COUNTED}` : String(total);
  const listed = fitting(
    shown.map((blocker) => `${qualifiedName(blocker)} (${fate(blocker, now)})`),
  );
  const more = total > listed.length ? ", …" : "";
  return refuse(
    "precondition",
    "NOT_EMPTY",
    `${what} still has ${counted} ${total === 1 ? "table" : "tables"}: ${listed.join(", ")}${more}; drop the live ones and wait until the dropped ones are purged`,
    { details: { total: String(total) } },
  ).refusal;
}

function fitting(texts: readonly string[]): readonly string[] {
  let bytes = 0;
  const beyond = texts.findIndex((text) => {
    bytes += Buffer.byteLength(text);
    return bytes > MAX_LISTED_BYTES;
  });
  return beyond === -1 ? texts : texts.slice(0, Math.max(beyond, 1));
}

function fate({ state, drop }: Blocker, now: Date): string {
  switch (state) {
    case "live":
      return "live";
    case "staged":
      return "staged, until its first commit or a day without one";
    case "dropped":
      return drop && drop.undoUntil > now
        ? `dropped, can be undone until ${drop.undoUntil.toISOString()}`
        : "dropped, about to be purged";
    case "purging":
      return "its files are being deleted";
    case "purged":
      return "gone";
  }
}
