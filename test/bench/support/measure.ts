/** The middle one. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** How long `work` takes, in ms. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** How often a second something is done, `count` times in `work`. */
export async function rate(count: number, work: () => Promise<unknown>): Promise<number> {
  return (count * 1_000) / (await timed(work));
}

/** Median ms of `runs` calls, after some that are not counted. */
export async function medianMs(runs: number, work: () => Promise<unknown>): Promise<number> {
  for (let nth = 0; nth < Math.ceil(runs / 5); nth += 1) await work();
  const times: number[] = [];
  for (let nth = 0; nth < runs; nth += 1) times.push(await timed(work));
  return median(times);
}

/** Median rates of alternatives that take turns, so that a change of the machine's speed is every one's. */
export async function inTurns<Name extends string>(
  runs: number,
  alternatives: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(alternatives) as Name[];
  const rates = Object.fromEntries(names.map((name) => [name, [] as number[]]));
  for (let run = 0; run < runs; run += 1) {
    for (const name of names) rates[name]?.push(await alternatives[name]());
  }
  return Object.fromEntries(names.map((name) => [name, median(rates[name] ?? [])])) as Record<
    Name,
    number
  >;
}
