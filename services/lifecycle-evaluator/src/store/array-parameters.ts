// Array parameters as PostgreSQL's binary format has them: `pg` sends a Buffer as it stands. As text, a hundred
// thousand ids cost more to be written here and read there than to be stored.

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;
const UUID = { oid: 2950, bytes: 16 };
const TIMESTAMPTZ = { oid: 1184, bytes: 8 };
const DATE = { oid: 1082, bytes: 4 };
const INT8 = { oid: 20, bytes: 8 };
const TEXT_OID = 25;

/** `uuid[]` of ids in any case. */
export function uuidArray(ids: readonly string[]): Buffer {
  return fixedArray(UUID, ids, (buffer, id, at) => {
    if (buffer.write(id.replaceAll("-", ""), at, "hex") !== UUID.bytes) {
      throw new Error(`${JSON.stringify(id)} is not an id`);
    }
  });
}

/** `timestamptz[]` of whole ms since the epoch. */
export function timestampArray(times: readonly (number | null)[]): Buffer {
  return fixedArray(TIMESTAMPTZ, times, (buffer, ms, at) => {
    writeInt8(buffer, ms - POSTGRES_EPOCH_MS, 1_000, at);
  });
}

/** `date[]` of `YYYY-MM-DD`. */
export function dateArray(days: readonly string[]): Buffer {
  let last = { day: "", number: 0 };
  return fixedArray(DATE, days, (buffer, day, at) => {
    if (day !== last.day) last = { day, number: (Date.parse(day) - POSTGRES_EPOCH_MS) / DAY_MS };
    buffer.writeInt32BE(last.number, at);
  });
}

/** `bigint[]` of safe integers. */
export function bigintArray(values: readonly number[]): Buffer {
  return fixedArray(INT8, values, (buffer, value, at) => writeInt8(buffer, value, 1, at));
}

/** `text[]`. */
export function textArray(values: readonly string[]): Buffer {
  const encoded = new Map<string, Buffer>();
  let bytes = HEADER_BYTES;
  for (const value of values) {
    let own = encoded.get(value);
    if (own === undefined) {
      own = Buffer.from(value, "utf8");
      encoded.set(value, own);
    }
    bytes += LENGTH_BYTES + own.length;
  }
  const buffer = startArray(bytes, TEXT_OID, values.length);
  let at = HEADER_BYTES;
  for (const value of values) {
    const own = encoded.get(value) ?? Buffer.alloc(0);
    at = buffer.writeInt32BE(own.length, at);
    at += own.copy(buffer, at);
  }
  return buffer;
}

const DAY_MS = 86_400_000;
const POSTGRES_EPOCH_MS = Date.UTC(2000, 0, 1);

function fixedArray<T>(
  type: { readonly oid: number; readonly bytes: number },
  values: readonly (T | null)[],
  write: (buffer: Buffer, value: T, at: number) => void,
): Buffer {
  const bytes = HEADER_BYTES + values.length * (LENGTH_BYTES + type.bytes);
  const buffer = startArray(bytes, type.oid, values.length);
  let at = HEADER_BYTES;
  for (const value of values) {
    at = buffer.writeInt32BE(value === null ? NULL_LENGTH : type.bytes, at);
    if (value !== null) {
      write(buffer, value, at);
      at += type.bytes;
    }
  }
  return buffer.subarray(0, at);
}

/** One dimension, beginning at 1; none where there is nothing in it, as the server would write it. */
function startArray(bytes: number, oid: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes);
  buffer.writeInt32BE(1, 0);
  // Whether there are nulls; the server looks for itself.
  buffer.writeInt32BE(1, 4);
  buffer.writeInt32BE(oid, 8);
  buffer.writeInt32BE(length, 12);
  buffer.writeInt32BE(1, 16);
  return buffer;
}

const TWO_32 = 2 ** 32;

/** A product of safe integers that itself need not be one, the second at most 1000. */
function writeInt8(buffer: Buffer, value: number, times: number, at: number): void {
  const high = Math.floor(value / TWO_32);
  const low = (value - high * TWO_32) * times;
  const carry = Math.floor(low / TWO_32);
  buffer.writeInt32BE(high * times + carry, at);
  buffer.writeUInt32BE(low - carry * TWO_32, at + 4);
}
