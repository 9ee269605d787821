import { afterAll, beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { followRestore } from "../src/app/follow-restore.ts";
import type { Table } from "../src/domain/table.ts";
import { type Lab, openLab } from "./lab/lab.ts";

let lab: Lab;

beforeAll(async () => {
  lab = await openLab("policy-interleavings");
});
afterAll(() => lab.close());

/** What happens to one table, all at once; `later` ms after the start. */
type Act =
  | { readonly kind: "set"; readonly days: number; readonly later: number }
  | { readonly kind: "sweep"; readonly later: number }
  | { readonly kind: "restore"; readonly later: number }
  | { readonly kind: "lose_touch"; readonly later: number };

const later = fc.nat(8);
const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("set" as const),
        days: fc.integer({ min: 1, max: 3_650 }),
        later,
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constantFrom("sweep", "restore", "lose_touch"), later }),
    },
  ),
  { minLength: 2, maxLength: 10, size: "max" },
);

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The catalog's answer to a due event of another version than its own. */
async function sweep({ id, tenant, environmentId }: Table): Promise<void> {
  const { retentionVersion } = lab.catalog.table(id);
  if (retentionVersion === 0n) return;
  await lab.service.settleTableRetention({ tableId: id, tenant, environmentId, retentionVersion });
}

async function restore({ id, tenant, environmentId, name, environment }: Table): Promise<void> {
  const version = lab.catalog.table(id).changeVersion + 1n;
  lab.catalog.changeTable(id, { changeVersion: version, retentionVersion: version });
  await pause(2);
  const about = { tableId: id, tenant, environmentId, name, environment, version };
  const who = { actor: "ana", traceparent: undefined };
  await followRestore(lab.pool, { ...about, ...who, restoredAt: new Date() });
}

/** A caller that dies right after its touch. */
async function loseTouch({ id }: Table): Promise<void> {
  const version = lab.catalog.table(id).changeVersion + 1n;
  lab.catalog.changeTable(id, { changeVersion: version, retentionVersion: version });
}

const OTHERS = { sweep, restore, lose_touch: loseTouch };

test("whatever happens to a table at once, the acknowledged rule ordered last is in force, and after a sweep it can expire", async () => {
  await fc.assert(
    fc.asyncProperty(acts, async (happening) => {
      const table = lab.catalog.addTable(lab.catalog.addEnvironment());
      const acknowledged: { days: number; version: bigint }[] = [];
      await Promise.all(
        happening.map(async (act) => {
          await pause(act.later);
          if (act.kind !== "set") return OTHERS[act.kind](table);
          const rule = { rule: { case: "days", value: act.days } } as const;
          const call = lab.people.owner.setTableRetention({ tableId: table.id, rule });
          const answer = await call.catch((error: { reason?: string }) => {
            if (error.reason !== "RETENTION_CHANGED_MEANWHILE") throw error;
            return null;
          });
          const version = answer?.retention?.retentionVersion;
          if (version !== undefined) acknowledged.push({ days: act.days, version });
        }),
      );
      await sweep(table);
      const { table: stored } = await lab.people.owner.getTableRetention({ tableId: table.id });
      const newest = acknowledged.reduce<{ days: number; version: bigint } | undefined>(
        (a, b) => (a && a.version > b.version ? a : b),
        undefined,
      );
      expect(stored?.rule?.rule.value).toBe(newest?.days);

      const versions = (await lab.events(table.id)).map(({ message }) =>
        BigInt(String(message.retentionVersion)),
      );
      expect(versions).toEqual([...versions].sort((a, b) => (a < b ? -1 : 1)));
      const { retentionVersion } = lab.catalog.table(table.id);
      expect(versions.at(-1) ?? 0n).toBe(retentionVersion);
    }),
    { numRuns: 40 },
  );
}, 120_000);
