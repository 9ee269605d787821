import { idWords } from "./packed-activities.ts";

const DAY_MS = 86_400_000;
const FIRST_ROOM = 1_024;

// A row in 32-bit words: the id from 0 to 3, then these; lastAt is a double. As long as a line of the processor's
// cache, because what a read costs here is mostly the wait for memory.
const DAY = 4;
const SOURCE = 5;
const READS = 6;
const LAST_AT = 8;
const ROW = 16;

/**
 * The reads of a batch per table, day and source (T17), a row each. Hundreds of thousands of reads are counted
 * a second, so there is no object and no text per read or row.
 */
export class ReadTally {
  #size = 0;
  #rows = new Int32Array(ROW * FIRST_ROOM);
  #doubles = new Float64Array(this.#rows.buffer);
  /** Open addressing: the row that is there, plus one; twice as many slots as rows at least. */
  #slots = new Int32Array(2 * FIRST_ROOM);
  readonly #sources: string[] = [];
  readonly #sourceNumbers = new Map<string, number>();
  readonly #words = new Int32Array(4);

  get size(): number {
    return this.#size;
  }

  /** The number by which a source is given to {@link addByWords}. */
  sourceNumber(source: string): number {
    let number = this.#sourceNumbers.get(source);
    if (number === undefined) {
      number = this.#sources.push(source) - 1;
      this.#sourceNumbers.set(source, number);
    }
    return number;
  }

  /** Counts one read of the table with that valid id, `at` ms since the epoch. */
  add(tableId: string, at: number, source: string): void {
    idWords(tableId, this.#words);
    this.addByWords(this.#words, 0, at, this.sourceNumber(source));
  }

  /** The same with the four words of its id, which begin at `from`. */
  addByWords(words: Int32Array, from: number, at: number, source: number): void {
    const a = words[from] ?? 0;
    const b = words[from + 1] ?? 0;
    const c = words[from + 2] ?? 0;
    const d = words[from + 3] ?? 0;
    const day = Math.floor(at / DAY_MS);
    const rows = this.#rows;
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash(a, b, c, d, day, source) & mask;
    for (let row = slots[slot] ?? 0; row !== 0; row = slots[slot] ?? 0) {
      const start = ROW * (row - 1);
      if (
        rows[start + 3] === d &&
        rows[start + 2] === c &&
        rows[start + 1] === b &&
        rows[start] === a &&
        rows[start + SOURCE] === source &&
        rows[start + DAY] === day
      ) {
        rows[start + READS] = (rows[start + READS] ?? 0) + 1;
        const last = (start + LAST_AT) / 2;
        if (at > (this.#doubles[last] ?? at)) this.#doubles[last] = at;
        return;
      }
      slot = (slot + 1) & mask;
    }
    this.#size += 1;
    slots[slot] = this.#size;
    const start = ROW * (this.#size - 1);
    rows[start] = a;
    rows[start + 1] = b;
    rows[start + 2] = c;
    rows[start + 3] = d;
    rows[start + DAY] = day;
    rows[start + SOURCE] = source;
    rows[start + READS] = 1;
    this.#doubles[(start + LAST_AT) / 2] = at;
    if (ROW * this.#size === rows.length) this.#grow();
  }

  /** The rows from `from` to before `to`. */
  columns(from: number, to: number): ReadColumns {
    const length = to - from;
    const columns = {
      length,
      ids: new Int32Array(4 * length),
      days: new Int32Array(length),
      source: new Uint32Array(length),
      sources: this.#sources,
      reads: new Float64Array(length),
      lastAt: new Float64Array(length),
    };
    for (let nth = 0; nth < length; nth += 1) {
      const start = ROW * (from + nth);
      for (let word = 0; word < 4; word += 1) {
        columns.ids[4 * nth + word] = this.#rows[start + word] ?? 0;
      }
      columns.days[nth] = this.#rows[start + DAY] ?? 0;
      columns.source[nth] = this.#rows[start + SOURCE] ?? 0;
      columns.reads[nth] = this.#rows[start + READS] ?? 0;
      columns.lastAt[nth] = this.#doubles[(start + LAST_AT) / 2] ?? 0;
    }
    return columns;
  }

  #grow(): void {
    const rows = new Int32Array(4 * this.#rows.length);
    rows.set(this.#rows);
    const slots = new Int32Array((2 * rows.length) / ROW);
    const mask = slots.length - 1;
    for (let row = 0; row < this.#size; row += 1) {
      const [a = 0, b = 0, c = 0, d = 0, day = 0, source = 0] = rows.subarray(
        ROW * row,
        ROW * row + 6,
      );
      let slot = hash(a, b, c, d, day, source) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = row + 1;
    }
    this.#rows = rows;
    this.#doubles = new Float64Array(rows.buffer);
    this.#slots = slots;
  }
}

/** Rows of a {@link ReadTally}, column by column. */
export interface ReadColumns {
  readonly length: number;
  /** Four words of the table's id per row, the most significant first. */
  readonly ids: Int32Array;
  /** Days since the epoch, UTC. */
  readonly days: Int32Array;
  /** Which of `sources`. */
  readonly source: Uint32Array;
  readonly sources: readonly string[];
  readonly reads: Float64Array;
  /** ms since the epoch. */
  readonly lastAt: Float64Array;
}

/** Ids may differ in any word and agree in all others; the last step spreads what is in the high bits. */
function hash(a: number, b: number, c: number, d: number, day: number, source: number): number {
  let mixed = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 15) ^ c, 0xc2b2ae35) ^ Math.imul(d, 0x27d4eb2f);
  mixed ^= Math.imul(day, 0x165667b1) ^ Math.imul(source, 0x2545f491);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return mixed ^ (mixed >>> 13);
}
