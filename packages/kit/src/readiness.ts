/** Whether a service can do its work, and by which checks. */
export interface Readiness {
  readonly ok: boolean;
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly message?: string }>>;
}

/**
 * Runs named checks together; one that throws, or takes longer than `timeoutMs`, is not ok and says why.
 * `readiness({database: () => pool.query("select 1"), nats: () => …})`.
 */
export function readiness(
  checks: Readonly<Record<string, () => Promise<unknown>>>,
  { timeoutMs = 2_000 }: { timeoutMs?: number } = {},
): () => Promise<Readiness> {
  return async () => {
    const results = await Promise.all(
      Object.entries(checks).map(
        async ([name, check]) => [name, await run(check, timeoutMs)] as const,
      ),
    );
    return {
      ok: results.every(([, { ok }]) => ok),
      checks: Object.fromEntries(results),
    };
  };
}

async function run(check: () => Promise<unknown>, timeoutMs: number) {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    await Promise.race([check(), late]);
    return { ok: true };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}
