/** Message headers with lower-case names, values as they travelled. */
export type Headers = Readonly<Record<string, string>>;

/** Header names in lower case; of a name that comes twice, the first value. */
export function lowerCaseNames(headers: Iterable<[string, string | string[]]>): Headers {
  const lower: Record<string, string> = {};
  for (const [name, value] of headers) {
    lower[name.toLowerCase()] ??= (Array.isArray(value) ? value[0] : value) ?? "";
  }
  return lower;
}
