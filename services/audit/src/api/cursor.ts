import { invalid } from "@lapse/kit";
import type { Place } from "../store/decision-search.ts";

const FORM = /^(-?\d{1,15})\.(\d{1,19})$/;

/** A place in a list as a cursor: opaque to the caller, who hands it back unchanged. */
export function toCursor({ at, seq }: Place): string {
  return Buffer.from(`${at.getTime()}.${seq}`).toString("base64url");
}

/**
 * The place that a cursor stands for; null for none.
 *
 * @throws invalid `CURSOR_INVALID` for what {@link toCursor} did not write
 */
export function parseCursor(cursor: string): Place | null {
  if (cursor === "") {
    return null;
  }
  const [, ms, seq] = FORM.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  const at = new Date(Number(ms));
  if (seq === undefined || Number.isNaN(at.getTime())) {
    throw invalid("CURSOR_INVALID", "the cursor is not one that a list gave; start without one");
  }
  return { at, seq: BigInt(seq) };
}
