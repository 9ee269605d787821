import { MAX_ACTIVITIES } from "../domain/activity-message.ts";
import type { PackedActivities } from "../domain/packed-activities.ts";

// Tags, a field number and a wire type each: of ActivityBatch, of TableActivity and of Timestamp.
const EVENTS = (15 << 3) | 2;
const TABLE_ID = (1 << 3) | 2;
const OCCURRED_AT = (3 << 3) | 2;
const SOURCE = (4 << 3) | 2;
const ACTOR = (5 << 3) | 2;
const SECONDS = 1 << 3;
const NANOS = 2 << 3;

const ID_LENGTH = 36;
const DASH = 0x2d;
/** The least that an event by id takes: no batch holds more of them than this allows. */
const LEAST_EVENT_BYTES = ID_LENGTH + 4;
/** A varint of at most so many bytes is exact as a number. */
const EXACT_VARINT_BYTES = 7;

/** The value of a hexadecimal digit by its character; -1: it is none. */
const DIGITS = new Int8Array(256).fill(-1);
for (const [value, digits] of [..."0123456789abcdef"].entries()) {
  DIGITS[digits.charCodeAt(0)] = value;
  DIGITS[digits.toUpperCase().charCodeAt(0)] = value;
}

/** The body is something else, or somebody wrote it in another way: `readActivityBytes` says what. */
class Unusual extends Error {}
const UNUSUAL = new Unusual();

/**
 * The activities of an `ActivityBatch` in protobuf as every common publisher writes it, all by id; null: it is
 * not so simple, and for `readActivityBytes`, which is five times as slow, to read or to refuse. Never reads
 * anything else than that would.
 */
export function readPackedActivities(body: Uint8Array): PackedActivities | null {
  try {
    return new PackedReader(body).read();
  } catch (error) {
    if (error instanceof Unusual) return null;
    throw error;
  }
}

class PackedReader {
  readonly #body: Uint8Array;
  #at = 0;
  readonly #ids: Int32Array;
  readonly #occurredAt: Float64Array;
  readonly #source: Uint16Array;
  readonly #sources: string[] = [""];
  /** Where the last source stands, and which it is. */
  #lastSource = { from: 0, to: 0, number: 0 };

  constructor(body: Uint8Array) {
    this.#body = body;
    const most = Math.min(Math.floor(body.length / LEAST_EVENT_BYTES), MAX_ACTIVITIES) + 1;
    this.#ids = new Int32Array(4 * most);
    this.#occurredAt = new Float64Array(most).fill(Number.NaN);
    this.#source = new Uint16Array(most);
  }

  read(): PackedActivities {
    const { length: end } = this.#body;
    let length = 0;
    while (this.#at < end) {
      if (this.#body[this.#at++] !== EVENTS || length === MAX_ACTIVITIES) throw UNUSUAL;
      this.#readEvent(length, this.#end(end));
      length += 1;
    }
    if (length === 0) throw UNUSUAL;
    return {
      length,
      ids: this.#ids,
      occurredAt: this.#occurredAt,
      source: this.#source,
      sources: this.#sources,
    };
  }

  #readEvent(nth: number, end: number): void {
    let seen = 0;
    while (this.#at < end) {
      const tag = this.#body[this.#at++] ?? 0;
      // Each once: what a field given twice means is not decided here.
      const bit = 1 << (tag >> 3);
      if (tag > 0x3f || (seen & bit) !== 0) throw UNUSUAL;
      seen |= bit;
      const fieldEnd = this.#end(end);
      if (tag === TABLE_ID) this.#readId(4 * nth, fieldEnd);
      else if (tag === OCCURRED_AT) this.#occurredAt[nth] = this.#readTime(fieldEnd);
      else if (tag === SOURCE) this.#source[nth] = this.#readSource(fieldEnd);
      else if (tag === ACTOR) this.#at = fieldEnd;
      else throw UNUSUAL;
    }
    if ((seen & 2) === 0) throw UNUSUAL;
  }

  #readId(to: number, end: number): void {
    const body = this.#body;
    const from = this.#at;
    if (
      end - from !== ID_LENGTH ||
      body[from + 8] !== DASH ||
      body[from + 13] !== DASH ||
      body[from + 18] !== DASH ||
      body[from + 23] !== DASH
    ) {
      throw UNUSUAL;
    }
    const first = this.#sixteenBits(from) * 0x1_0000 + this.#sixteenBits(from + 4);
    const second = this.#sixteenBits(from + 9) * 0x1_0000 + this.#sixteenBits(from + 14);
    const third = this.#sixteenBits(from + 19) * 0x1_0000 + this.#sixteenBits(from + 24);
    const fourth = this.#sixteenBits(from + 28) * 0x1_0000 + this.#sixteenBits(from + 32);
    const version = (second >>> 12) & 0xf;
    const variant = third >>> 30;
    if (version < 1 || version > 8 || variant !== 2) throw UNUSUAL;
    this.#ids[to] = first;
    this.#ids[to + 1] = second;
    this.#ids[to + 2] = third;
    this.#ids[to + 3] = fourth;
    this.#at = end;
  }

  #sixteenBits(from: number): number {
    const body = this.#body;
    const value =
      ((DIGITS[body[from] ?? 0] ?? -1) << 12) |
      ((DIGITS[body[from + 1] ?? 0] ?? -1) << 8) |
      ((DIGITS[body[from + 2] ?? 0] ?? -1) << 4) |
      (DIGITS[body[from + 3] ?? 0] ?? -1);
    if (value < 0) throw UNUSUAL;
    return value;
  }

  #readTime(end: number): number {
    let seconds = 0;
    let nanos = 0;
    if (this.#at < end && this.#body[this.#at] === SECONDS) {
      this.#at += 1;
      seconds = this.#varint(end);
    }
    if (this.#at < end && this.#body[this.#at] === NANOS) {
      this.#at += 1;
      nanos = this.#varint(end);
    }
    if (this.#at !== end || nanos >= 1e9) throw UNUSUAL;
    return seconds * 1_000 + Math.floor(nanos / 1e6);
  }

  #readSource(end: number): number {
    const from = this.#at;
    this.#at = end;
    const last = this.#lastSource;
    if (!this.#same(from, end, last.from, last.to)) {
      const source = Buffer.from(this.#body.buffer, this.#body.byteOffset + from, end - from);
      const text = source.toString("utf8");
      // What is no text is refused, not read as another one; and a byte order mark is no part of it.
      if (text.startsWith("\ufeff") || !Buffer.from(text, "utf8").equals(source)) throw UNUSUAL;
      const known = this.#sources.indexOf(text);
      const number = known === -1 ? this.#sources.push(text) - 1 : known;
      this.#lastSource = { from, to: end, number };
    }
    return this.#lastSource.number;
  }

  #same(from: number, to: number, otherFrom: number, otherTo: number): boolean {
    if (to - from !== otherTo - otherFrom) return false;
    for (let nth = 0; nth < to - from; nth += 1) {
      if (this.#body[from + nth] !== this.#body[otherFrom + nth]) return false;
    }
    return true;
  }

  /** Reads a length; where what is so long ends. */
  #end(within: number): number {
    const length = this.#varint(within);
    const end = this.#at + length;
    if (end > within) throw UNUSUAL;
    return end;
  }

  #varint(end: number): number {
    const first = this.#body[this.#at] ?? 0;
    if (first < 0x80 && this.#at < end) {
      this.#at += 1;
      return first;
    }
    let value = 0;
    let factor = 1;
    for (let nth = 0; nth < EXACT_VARINT_BYTES && this.#at < end; nth += 1) {
      const byte = this.#body[this.#at++] ?? 0;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 0x80;
    }
    throw UNUSUAL;
  }
}
