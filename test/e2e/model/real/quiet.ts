import { waitFor } from "@lapse/test-kit";
import { SERVICES, type Stack } from "./stack.ts";

const WITHIN_MS = 30_000;

/** Those who act on events besides the folds. */
const CONSUMERS = [
  ["CATALOG", "retention-policy-catalog"],
  ["EXPIRY", "catalog-table-due"],
] as const;

/**
 * Waits until nothing is under way: every event published, every one folded or acted on, every purge that can begin done;
 * twice in a row, with nothing in between.
 */
export async function whenQuiet(stack: Stack): Promise<void> {
  let before = "";
  let open = "";
  await waitFor(
    async () => {
      const { heads, waitsFor } = await look(stack);
      open = waitsFor.join(", ");
      const same = open === "" && heads === before;
      before = open === "" ? heads : "";
      return same;
    },
    { timeoutMs: WITHIN_MS, everyMs: 10, message: () => `it is not quiet: ${open}` },
  );
}

/** Where the streams end, and what is still open. What acts is looked at before what it writes. */
async function look(stack: Stack): Promise<{ heads: string; waitsFor: string[] }> {
  const acting = await Promise.all([
    ...CONSUMERS.map(([stream, durable]) => consumer(stack, stream, durable)),
    purges(stack),
  ]);
  const unsent = await Promise.all(SERVICES.map((name) => outbox(stack, name)));
  const folds = await fold(stack);
  const waitsFor = [...acting, ...unsent, ...folds.behind].filter((each) => each !== "");
  return { heads: folds.heads, waitsFor };
}

async function consumer({ nats }: Stack, stream: string, durable: string): Promise<string> {
  const { num_pending, num_ack_pending } = await nats.manager.consumers.info(stream, durable);
  return num_pending + num_ack_pending === 0 ? "" : durable;
}

async function purges({ pools }: Stack): Promise<string> {
  const { rows } = await pools.catalog.query<{ open: boolean }>(
    `select exists (select from table_purge)
       or exists (select from catalog_table where state = 'dropped' and undo_until <= now())
       or exists (
         select from catalog_table t where state = 'staged' and created_at <= now() - interval '1 day'
           and not exists (select from write_hold h where h.table_id = t.table_id and h.expires_at > now()))
       as open`,
  );
  return rows[0]?.open === false ? "" : "purges";
}

async function outbox({ pools }: Stack, name: (typeof SERVICES)[number]): Promise<string> {
  const { rows } = await pools[name].query<{ unsent: boolean }>(
    "select exists (select from lapse_kit.outbox where published_at is null) as unsent",
  );
  return rows[0]?.unsent === false ? "" : `outbox of ${name}`;
}

async function fold({ nats, pools }: Stack): Promise<{ heads: string; behind: string[] }> {
  const heads = await Promise.all(
    ["ACTIVITY", "CATALOG", "POLICY"].map(async (stream) => {
      const { state } = await nats.manager.streams.info(stream);
      return { stream, last: BigInt(state.last_seq) };
    }),
  );
  const { rows } = await pools["lifecycle-evaluator"].query<{ stream: string; sequence: bigint }>(
    "select stream, sequence from fold_position",
  );
  const folded = new Map(rows.map(({ stream, sequence }) => [stream, sequence]));
  return {
    heads: heads.map(({ stream, last }) => `${stream} ${last}`).join(),
    behind: heads.map(({ stream, last }) =>
      (folded.get(stream) ?? 0n) >= last ? "" : `fold of ${stream}`,
    ),
  };
}
