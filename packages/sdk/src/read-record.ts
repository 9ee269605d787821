/** The fields of `T` that hold an instant. */
type InstantKey<T> = {
  [K in keyof T]-?: Extract<T[K], Date> extends never ? never : K;
}[keyof T];

/** The fields of `T` that hold records with instants of their own, and how each is read. */
type Inner<T> = { readonly [K in keyof T]?: (value: unknown) => unknown };

/** Reads a record as REST writes it: everything as it is, instants as `Date`. */
export type Reader<T> = (value: unknown) => T;

/**
 * A reader of `T`. The instants must be named one by one, so that none can be forgotten; a field that is absent or
 * null stays so.
 */
export function recordReader<T>(
  instants: Readonly<Record<InstantKey<T>, "instant">>,
  inner: Inner<T> = {},
): Reader<T> {
  const names = Object.keys(instants);
  const readers = Object.entries(inner) as [string, (value: unknown) => unknown][];
  return (value) => {
    const record: Record<string, unknown> = { ...(value as Record<string, unknown>) };
    for (const name of names) {
      if (typeof record[name] === "string") record[name] = new Date(record[name]);
    }
    for (const [name, read] of readers) {
      if (record[name] !== undefined && record[name] !== null) record[name] = read(record[name]);
    }
    return record as T;
  };
}

/** A reader of a list of what `read` reads. */
export const listReader =
  <T>(read: Reader<T>): Reader<readonly T[]> =>
  (value) =>
    (value as readonly unknown[]).map(read);
