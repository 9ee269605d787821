import { LapseError } from "@lapse/kit";
import type { Decided } from "../domain/refusal.ts";

/** The value of a decision, or its refusal thrown as the caller is told. */
export function unlessRefused<T>(decided: Decided<T>): T {
  if (decided.ok) return decided.value;
  throw new LapseError(decided.refusal);
}
