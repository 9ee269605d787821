/** Runs `work` for every item, at most `limit` at a time; `work` sees to its own errors. */
export async function forEachConcurrently<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}
