/**
 * The two ways a table becomes due within an environment. Each is an index of its own, read in the order of
 * (`at`, table id): `at` is the due time by the table's own rule, or its last activity where the
 * environment's rule applies.
 */
export type DueSource = "table" | "environment";

/** The place of one table in its source. */
export interface DuePlace {
  readonly environmentId: string;
  readonly source: DueSource;
  readonly at: Date;
  readonly tableId: string;
}

/** How far each source has been read; a source that is not there is read from its start. */
export type DueCursor = ReadonlyMap<string, DuePlace>;

/** The cursor after these places, given in the order in which they were read. */
export function advance(cursor: DueCursor, places: readonly DuePlace[]): DueCursor {
  const next = new Map(cursor);
  for (const place of places) {
    next.set(`${place.environmentId} ${place.source}`, place);
  }
  return next;
}
