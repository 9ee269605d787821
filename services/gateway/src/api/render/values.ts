import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { internal } from "@lapse/kit";

/** A count that JSON carries without loss; anything larger is a fault of ours, never a rounded number. */
export function count(value: bigint): number {
  if (value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  throw internal(new RangeError(`${value} is too large a count for JSON`));
}

export const instantOrNull = (at: Timestamp | undefined): string | null =>
  at ? timestampDate(at).toISOString() : null;

/** An instant that is always there by the contract between the services. */
export function instant(at: Timestamp | undefined, field: string): string {
  if (at) return timestampDate(at).toISOString();
  throw internal(new TypeError(`${field} is missing in the answer of a service`));
}

/** Protobuf has no null for text: it says nothing by an empty one. */
export const textOrNull = (text: string): string | null => (text === "" ? null : text);

/** A text that is one of a closed set by the contract between the services. */
export function oneOf<const T extends string>(
  options: readonly T[],
  value: string,
  field: string,
): T {
  const known = options.find((option) => option === value);
  if (known !== undefined) return known;
  throw internal(new TypeError(`${field} is ${JSON.stringify(value)} in the answer of a service`));
}

/** {@link oneOf}, or null for an empty text. */
export const oneOfOrNull = <const T extends string>(
  options: readonly T[],
  value: string,
  field: string,
): T | null => (value === "" ? null : oneOf(options, value, field));

/** The lower-case word that REST has for a value of an enumeration: `TableState.LIVE` is `live`. */
export function word<const T extends string>(
  words: Readonly<Record<number, T>>,
  value: number,
  field: string,
): T {
  const known = words[value];
  if (known !== undefined) return known;
  throw internal(new TypeError(`${field} is ${value} in the answer of a service`));
}

/** A page of a list that a service gives whole: in the order of its keys, after the key that the cursor is. */
export function pageOfAll<T>(
  all: readonly T[],
  keyOf: (item: T) => string,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): { items: T[]; next_cursor: string | null } {
  const sorted = all
    .map((item) => ({ item, key: keyOf(item) }))
    .filter(({ key }) => cursor === undefined || key > cursor)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const page = sorted.slice(0, limit);
  const next = sorted.length > limit ? page.at(-1)?.key : undefined;
  return { items: page.map(({ item }) => item), next_cursor: next ?? null };
}

export const pageOf = <T>(items: T[], nextCursor: string) => ({
  items,
  next_cursor: textOrNull(nextCursor),
});
