import { ObjectStoreError, quoted } from "./errors.ts";

/** Largest key, in bytes of UTF-8, as in S3. */
export const MAX_KEY_BYTES = 1024;

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Refuses a bucket name unless it is 3 to 63 lower-case letters, digits, dots and hyphens, with a
 * letter or digit at both ends and no two dots together: what every S3 store takes, and never a
 * path.
 *
 * @throws ObjectStoreError `invalid`
 */
export function checkBucket(bucket: string): void {
  if (BUCKET.test(bucket) && !bucket.includes("..")) return;
  throw new ObjectStoreError(
    "invalid",
    `Bucket name ${quoted(bucket)} is refused: it takes 3 to 63 lower-case letters, digits, dots and hyphens, starts and ends with a letter or digit, and has no two dots together.`,
  );
}

/**
 * Refuses a key unless it is 1 to 1024 bytes of well-formed UTF-8 without NUL and without a `.` or
 * `..` between slashes. Everything else is kept as given: case, spaces, any Unicode form, leading,
 * trailing and doubled slashes.
 *
 * Dot segments are refused although S3 has them, since URL parsers and proxies fold them away: a
 * delete of `a/../c` could arrive as a delete of `c` (architecture rule 8).
 *
 * @throws ObjectStoreError `invalid`
 */
export function checkKey(key: string): void {
  const fault = key === "" ? "it is empty" : faultOf(key, key.split("/"));
  if (fault !== null) throw new ObjectStoreError("invalid", `Key ${quoted(key)}: ${fault}.`);
}

/**
 * Refuses a prefix that no key can have. The empty prefix is every key; the last segment may be
 * unfinished, so `a/..` is fine (`a/..b` has it) and `a/../` is not.
 *
 * @throws ObjectStoreError `invalid`
 */
export function checkPrefix(prefix: string): void {
  const fault = faultOf(prefix, prefix.split("/").slice(0, -1));
  if (fault !== null) throw new ObjectStoreError("invalid", `Prefix ${quoted(prefix)}: ${fault}.`);
}

function faultOf(text: string, segments: readonly string[]): string | null {
  if (exceedsKeyLimit(text)) return `it is longer than ${MAX_KEY_BYTES} bytes`;
  if (text.includes("\0")) return "it contains a NUL character";
  if (LONE_SURROGATE.test(text)) return "it is not well-formed Unicode";
  if (segments.some((segment) => segment === "." || segment === "..")) {
    return '"." and ".." are not allowed between slashes';
  }
  return null;
}

/** Whether `text` is more than {@link MAX_KEY_BYTES} bytes of UTF-8. */
export function exceedsKeyLimit(text: string): boolean {
  // A UTF-16 unit is 1 to 3 bytes of UTF-8, so most texts are decided by their length alone.
  if (text.length * 3 <= MAX_KEY_BYTES) return false;
  return text.length > MAX_KEY_BYTES || Buffer.byteLength(text) > MAX_KEY_BYTES;
}

/**
 * The order of a listing: by the bytes of the keys' UTF-8, as S3 lists. It differs from `<` on
 * strings only where characters beyond U+FFFF meet those from U+E000 on.
 */
export function compareKeys(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Moves surrogates (one half of a character beyond U+FFFF) behind every other UTF-16 unit. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
