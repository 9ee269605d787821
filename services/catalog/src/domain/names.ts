/** Bytes in UTF-8 of one segment of a table's name or namespace. */
const MAX_SEGMENT_BYTES = 63;
const MAX_NAMESPACE_SEGMENTS = 8;

const ENVIRONMENT = /^[a-z][a-z0-9_-]{0,62}$/;
const SEGMENT = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_-]*$/u;
/** Letters by their category that nobody can see, such as the Hangul fillers. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/** The same name whichever way its accents were typed. Applied to every name before it is checked or compared. */
export const normaliseName = (name: string): string => name.normalize("NFC");

/** What is wrong with an environment's name, or undefined. */
export function environmentNameFault(name: string): string | undefined {
  if (ENVIRONMENT.test(name)) return undefined;
  return "an environment's name has 1 to 63 characters: a lower-case letter, then lower-case letters, digits, _ and -";
}

/** What is wrong with a table's name, or undefined. */
export function tableNameFault(name: string): string | undefined {
  return segmentFault(name, "a table's name");
}

/** What is wrong with a namespace, a dotted path such as `bronze.raw`, or undefined. */
export function namespaceFault(namespace: string): string | undefined {
  const segments = namespace.split(".");
  if (segments.length > MAX_NAMESPACE_SEGMENTS) {
    return `a namespace has at most ${MAX_NAMESPACE_SEGMENTS} segments between its dots`;
  }
  for (const segment of segments) {
    const fault = segmentFault(segment, "each segment of a namespace");
    if (fault) return fault;
  }
  return undefined;
}

function segmentFault(segment: string, what: string): string | undefined {
  if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) {
    return `${what} has at most ${MAX_SEGMENT_BYTES} bytes in UTF-8`;
  }
  if (!SEGMENT.test(segment) || INVISIBLE.test(segment)) {
    return `${what} is made of letters, digits, _ and -, and does not begin with -`;
  }
  return undefined;
}
