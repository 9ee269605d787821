/**
 * How a segment of a key (what stands between slashes) is named on disk.
 *
 * A segment is its own file name wherever a file system can hold it, so that `dev/<id>/x.parquet`
 * is that very path for DuckDB, and a file that a person drops into a bucket is an object. Nothing
 * else is ever consulted: a key's path is a pure function of the key, and nothing moves. The price: of
 * `a` and `a/b`, which both need the name `a`, a put of the second is refused.
 *
 * A segment is encoded where it
 * - is empty (`a//b`, a leading or trailing slash),
 * - is longer than 255 bytes: then it becomes several names, each a directory within the one before,
 * - starts with `~%`, the mark of encoded names,
 * - holds upper-case or non-ASCII characters and the file system folds them (macOS), where `A` and
 *   `a` would be one file.
 *
 * Encoded names: `~%`, then the text with `~`, `%`, `!` and what the file system folds as `%xx` per
 * byte of UTF-8, then `~` where the next name continues the segment. A name on disk that is not how
 * its segment is written is no object: never listed, never touched. `~%!` marks a claim, see
 * `claim.ts`.
 */
export interface SegmentNames {
  /** The names for a segment, outermost first; one, save for a segment that is too long. */
  encode(segment: string): readonly string[];
  /** The segment of those names; null when they are not what `encode` gives for it. */
  decode(names: readonly string[]): string | null;
}

const MARK = "~%";
const CONTINUED = "~";
const MAX_NAME_BYTES = 255;
const MAX_PIECE_BYTES = MAX_NAME_BYTES - MARK.length - CONTINUED.length;

const RESERVED = /[~%!]/;
const RESERVED_OR_FOLDED = /[~%!A-Z]|[^\p{ASCII}]/u;
const FOLDED = /[A-Z]|[^\p{ASCII}]/u;

/** @param foldsCase Whether the file system takes `A` and `a` for one name. */
export function segmentNames(foldsCase: boolean): SegmentNames {
  const escaped = foldsCase ? RESERVED_OR_FOLDED : RESERVED;

  const encode = (segment: string): readonly string[] => {
    const standsForItself =
      segment !== "" &&
      !segment.startsWith(MARK) &&
      !(foldsCase && FOLDED.test(segment)) &&
      Buffer.byteLength(segment) <= MAX_NAME_BYTES;
    return standsForItself ? [segment] : encodePieces(segment, escaped);
  };

  const decode = (names: readonly string[]): string | null => {
    const [name = ""] = names;
    if (names.length === 1 && !name.startsWith(MARK)) {
      return foldsCase && FOLDED.test(name) ? null : name;
    }
    const segment = names.map(decodePiece).join("");
    const written = encode(segment);
    const same =
      written.length === names.length && written.every((each, index) => each === names[index]);
    return same ? segment : null;
  };

  return { encode, decode };
}

/** Whether a directory of this name holds the rest of a segment that is too long for one name. */
export function continuesSegment(name: string): boolean {
  return name.startsWith(MARK) && name.endsWith(CONTINUED) && !isClaim(name);
}

const CLAIM = `${MARK}!`;

/** The name of a directory that claims the version `etag` of an object beside it. */
export function claimName(etag: string, nonce: string): string {
  return `${CLAIM}${etag}!${nonce}`;
}

/** Whether a name is a claim's; no segment is ever written so. */
export function isClaim(name: string): boolean {
  return name.startsWith(CLAIM);
}

/** The version that a claim is about. */
export function claimedEtag(name: string): string {
  return name.slice(CLAIM.length).split("!")[0] ?? "";
}

function encodePieces(segment: string, escaped: RegExp): string[] {
  const pieces: string[] = [];
  let piece = "";
  let bytes = 0;
  for (const character of segment) {
    const written = escaped.test(character) ? escapeBytes(character) : character;
    const size = Buffer.byteLength(written);
    if (bytes + size > MAX_PIECE_BYTES) {
      pieces.push(MARK + piece + CONTINUED);
      piece = "";
      bytes = 0;
    }
    piece += written;
    bytes += size;
  }
  pieces.push(MARK + piece);
  return pieces;
}

function escapeBytes(character: string): string {
  return Buffer.from(character).toString("hex").replaceAll(/../g, "%$&");
}

function decodePiece(name: string): string {
  const end = name.endsWith(CONTINUED) ? -CONTINUED.length : undefined;
  const runs = name.slice(MARK.length, end);
  return runs.replaceAll(/(?:%[0-9a-f]{2})+/g, (run) =>
    Buffer.from(run.replaceAll("%", ""), "hex").toString(),
  );
}
