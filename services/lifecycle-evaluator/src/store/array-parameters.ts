// Array parameters as PostgreSQL's binary format has them: `pg` sends a Buffer as it stands. As text, a hundred
// thousand ids cost more to be written here and read there than to be stored.

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const UUID = { oid: 2950, bytes: 16 };
const TIMESTAMPTZ = { oid: 1184, bytes: 8 };
const DATE = { oid: 1082, bytes: 4 };
const INT8 = { oid: 20, bytes: 8 };
const TEXT_OID = 25;

const POSTGRES_EPOCH_MS = Date.UTC(2000, 0, 1);
const POSTGRES_EPOCH_DAY = POSTGRES_EPOCH_MS / 86_400_000;

/** `uuid[]` of ids of four words each, the most significant first. */
export function uuidArray(words: Int32Array): Buffer {
  const { buffer, start, step } = fixedArray(UUID, words.length / 4);
  for (let word = 0, at = start; word < words.length; word += 4, at += step) {
    for (let nth = 0; nth < 4; nth += 1) {
      buffer.writeInt32BE(words[word + nth] ?? 0, at + 4 * nth);
    }
  }
  return buffer;
}

/** `timestamptz[]` of whole ms since the epoch. */
export function timestampArray(times: Float64Array): Buffer {
  const { buffer, start, step } = fixedArray(TIMESTAMPTZ, times.length);
  for (let nth = 0, at = start; nth < times.length; nth += 1, at += step) {
    writeProduct(buffer, (times[nth] ?? 0) - POSTGRES_EPOCH_MS, 1_000, at);
  }
  return buffer;
}

/** `date[]` of days since the epoch. */
export function dateArray(days: Int32Array): Buffer {
  const { buffer, start, step } = fixedArray(DATE, days.length);
  for (let nth = 0, at = start; nth < days.length; nth += 1, at += step) {
    buffer.writeInt32BE((days[nth] ?? 0) - POSTGRES_EPOCH_DAY, at);
  }
  return buffer;
}

/** `bigint[]` of safe integers. */
export function bigintArray(values: Float64Array): Buffer {
  const { buffer, start, step } = fixedArray(INT8, values.length);
  for (let nth = 0, at = start; nth < values.length; nth += 1, at += step) {
    writeProduct(buffer, values[nth] ?? 0, 1, at);
  }
  return buffer;
}

/** `text[]` of which of `texts` each is. */
export function textArray(numbers: Uint32Array, texts: readonly string[]): Buffer {
  const encoded = texts.map((text) => Buffer.from(text, "utf8"));
  const at = (nth: number): Buffer => encoded[numbers[nth] ?? 0] ?? Buffer.alloc(0);
  let bytes = HEADER_BYTES;
  for (let nth = 0; nth < numbers.length; nth += 1) bytes += LENGTH_BYTES + at(nth).length;
  const buffer = startArray(bytes, TEXT_OID, numbers.length);
  let end = HEADER_BYTES;
  for (let nth = 0; nth < numbers.length; nth += 1) {
    const own = at(nth);
    end = buffer.writeInt32BE(own.length, end);
    buffer.set(own, end);
    end += own.length;
  }
  return buffer;
}

/** Room for elements of one size, their lengths written; the first is at `start`, and so on. */
function fixedArray(type: { readonly oid: number; readonly bytes: number }, length: number) {
  const step = LENGTH_BYTES + type.bytes;
  const buffer = startArray(HEADER_BYTES + length * step, type.oid, length);
  for (let at = HEADER_BYTES; at < buffer.length; at += step) buffer.writeInt32BE(type.bytes, at);
  return { buffer, start: HEADER_BYTES + LENGTH_BYTES, step };
}

/** An array of one dimension that begins at 1 and has no nulls. */
function startArray(bytes: number, oid: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes);
  for (const [nth, header] of [1, 0, oid, length, 1].entries()) {
    buffer.writeInt32BE(header, 4 * nth);
  }
  return buffer;
}

const TWO_32 = 2 ** 32;

/** A product of integers as int8, exact where it is no safe integer any more; the second is at most 1000. */
function writeProduct(buffer: Buffer, value: number, times: number, at: number): void {
  const high = Math.floor(value / TWO_32);
  const low = (value - high * TWO_32) * times;
  const carry = Math.floor(low / TWO_32);
  buffer.writeInt32BE(high * times + carry, at);
  buffer.writeUInt32BE(low - carry * TWO_32, at + 4);
}
