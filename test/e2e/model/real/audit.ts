import type { Principal } from "@lapse/kit";
import { waitFor } from "@lapse/test-kit";
import type { Stack } from "./stack.ts";

const LIMIT = 1000;

/** Waits until every decision of each organisation is in its chain; gives what is wrong with the chains then. */
export async function auditFaults(
  stack: Stack,
  decided: ReadonlyMap<string, readonly string[]>,
): Promise<string[]> {
  const faults: string[] = [];
  for (const [tenant, ids] of decided) {
    const principal: Principal = { subject: "root", tenant, roles: ["admin"], kind: "person" };
    const recorded = await waitFor(
      async () => {
        const found = await recordedIn(stack, principal);
        return found.length >= ids.length ? found : undefined;
      },
      { timeoutMs: 30_000, message: `decisions of ${tenant} are missing` },
    );
    if (recorded.sort().join() !== [...ids].sort().join()) {
      faults.push(`${tenant}: ${recorded.length} decisions are recorded, ${ids.length} were taken`);
    }
    const { ok, fault, gaps } = await stack.audit.verifyChain({}, { principal });
    if (!ok || gaps.length > 0) faults.push(`${tenant}: ${fault} ${gaps.length} gaps`);
  }
  return faults;
}

async function recordedIn({ audit }: Stack, principal: Principal): Promise<string[]> {
  const ids: string[] = [];
  let cursor = "";
  do {
    const page = await audit.listDecisions({ limit: LIMIT, cursor }, { principal });
    ids.push(...page.records.map(({ decision }) => decision?.id ?? ""));
    cursor = page.nextCursor;
  } while (cursor !== "");
  return ids;
}
