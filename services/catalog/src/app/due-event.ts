import type { DueTable } from "../domain/due.ts";

/** A due event and the trace it came with. */
export interface DueEvent {
  readonly due: DueTable;
  readonly traceparent?: string | undefined;
}
