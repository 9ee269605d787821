import type { ReportedActivity } from "./activity-message.ts";

/** Most messages are full of activities on tables given by id: those, without an object for each. */
export interface PackedActivities {
  readonly length: number;
  /** Four 32-bit words for each, the most significant first: valid ids. */
  readonly ids: Int32Array;
  /** ms since the epoch; NaN: not said. */
  readonly occurredAt: Float64Array;
  /** For each, which of `sources`. */
  readonly source: Uint16Array;
  /** Empty text: not said. */
  readonly sources: readonly string[];
}

/** The activities one by one, as they would have been read otherwise. */
export function unpack(packed: PackedActivities): ReportedActivity[] {
  return Array.from({ length: packed.length }, (_, index) => unpackOne(packed, index));
}

function unpackOne(packed: PackedActivities, index: number): ReportedActivity {
  const occurredAt = packed.occurredAt[index] ?? Number.NaN;
  return {
    tableId: idText(packed.ids.subarray(4 * index, 4 * index + 4)),
    table: null,
    occurredAt: Number.isNaN(occurredAt) ? null : occurredAt,
    source: packed.sources[packed.source[index] ?? 0] ?? "",
  };
}

/** Four words of an id as text, in lower case. */
export function idText(words: Int32Array): string {
  const hex = Array.from(words, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** An id as four words, written to `words` from `at` on. */
export function idWords(id: string, words: Int32Array, at = 0): void {
  const hex = id.replaceAll("-", "");
  for (let nth = 0; nth < 4; nth += 1) {
    words[at + nth] = Number.parseInt(hex.slice(8 * nth, 8 * nth + 8), 16);
  }
}
