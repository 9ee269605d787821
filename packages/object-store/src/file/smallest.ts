import { compareKeys } from "../object-key.ts";

const SURROGATE = /[\ud800-\udfff]/;

/** Keeps the smallest of many texts, in UTF-8 byte order, in memory bounded by `capacity`. */
export interface Smallest {
  add(text: string): void;
  /** The smallest in order, at most `capacity`; `more` when larger ones were left out. */
  take(): { readonly texts: readonly string[]; readonly more: boolean };
}

export function smallest(capacity: number): Smallest {
  let texts: string[] = [];
  let ceiling: string | null = null;
  // UTF-16 order, in which sort() is much faster, is UTF-8 order as long as there is no surrogate.
  let surrogates = false;

  const cut = () => {
    if (surrogates) texts.sort(compareKeys);
    else texts.sort();
    if (texts.length <= capacity) return;
    texts = texts.slice(0, capacity);
    ceiling = texts.at(-1) ?? null;
  };

  return {
    add(text) {
      if (ceiling !== null && compareKeys(text, ceiling) > 0) return;
      surrogates ||= SURROGATE.test(text);
      texts.push(text);
      if (texts.length >= 2 * capacity) cut();
    },
    take() {
      cut();
      return { texts, more: ceiling !== null };
    },
  };
}
