/** Applies `work` to every item, at most `width` at a time; results in the order of the items. The first failure ends it. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = new Array(items.length);
  const queue = items.entries();
  let failed = false;
  const worker = async () => {
    for (const [index, item] of queue) {
      if (failed) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const workers = Array.from({ length: Math.min(width, items.length) }, worker);
  // All are waited for, so that nothing goes on behind the back of a caller that was told of a failure.
  const outcomes = await Promise.allSettled(workers);
  const refused = outcomes.find((outcome) => outcome.status === "rejected");
  if (refused) throw refused.reason;
  return results;
}
