import type { Page, PageRequest } from "./types.ts";

/** Walks every page: `for await (const table of eachItem((page) => client.tables.list("dev", page)))`. */
export async function* eachItem<T>(
  fetchPage: (page: PageRequest) => Promise<Page<T>>,
  limit = 500,
): AsyncGenerator<T> {
  let cursor: string | null = null;
  do {
    const page: Page<T> = await fetchPage(cursor === null ? { limit } : { limit, cursor });
    yield* page.items;
    cursor = page.next_cursor;
  } while (cursor !== null);
}
