import { LapseApiError } from "./errors.ts";
import type { CallOptions, Http, Request } from "./http/http.ts";
import type { Reader } from "./read-record.ts";

/** One page of a list; `next_cursor` is null on the last one. */
export type Page<T> = { readonly items: readonly T[]; readonly next_cursor: string | null };

/** Which page of a list: how many items at most (1 to 1000), and from where on. */
export type PageRequest = { readonly limit?: number; readonly cursor?: string };

/**
 * A list that is fetched as it is walked: `for await (const table of client.tables.list("dev"))` follows every page to
 * the end, one call a page; `pages()` walks it page by page; `page()` fetches one, the first unless told otherwise.
 */
export type Listing<T> = AsyncIterable<T> & {
  pages(request?: PageRequest): AsyncIterable<Page<T>>;
  page(request?: PageRequest): Promise<Page<T>>;
};

/** Walked to its end, a list is fetched in pages of this size. */
const WALKING = 500;

/** A listing of the route at `path`; nothing is fetched before it is asked for. */
export function listing<T>(
  http: Http,
  path: string,
  read: Reader<T>,
  query: NonNullable<Request["query"]> = {},
  options?: CallOptions,
): Listing<T> {
  const page = async (request: PageRequest = {}): Promise<Page<T>> => {
    const answer = await http.send("GET", path, { query: { ...query, ...request }, options });
    const { items, next_cursor } = answer as Page<unknown>;
    return { items: items.map(read), next_cursor };
  };

  async function* pages(request: PageRequest = {}): AsyncGenerator<Page<T>> {
    const limit = request.limit ?? WALKING;
    let cursor = request.cursor ?? null;
    do {
      const got: Page<T> = await page(cursor === null ? { limit } : { limit, cursor });
      yield got;
      if (got.next_cursor !== null && got.next_cursor === cursor) throw goesRound(path);
      cursor = got.next_cursor;
    } while (cursor !== null);
  }

  async function* items(): AsyncGenerator<T> {
    for await (const got of pages()) yield* got.items;
  }

  return { [Symbol.asyncIterator]: items, pages, page };
}

/** A list that never ends would be walked for ever. */
const goesRound = (path: string): LapseApiError =>
  new LapseApiError(200, {
    code: "ANSWER_UNREADABLE",
    detail: `The list at ${path} names the same page twice: it cannot be read to its end.`,
  });
