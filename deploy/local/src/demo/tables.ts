import { setTimeout as delay } from "node:timers/promises";
import type { Stage } from "./stage.ts";

type Decision = {
  readonly type: string;
  readonly actor: string | null;
  readonly reason: string;
  readonly resource: { readonly id: string };
  readonly details: { readonly retention?: Readonly<Record<string, unknown>> };
};
type TableView = { readonly id: string; readonly location: string };
type RetentionView = { readonly expires_at: string; readonly last_activity_at: string };

/** A table that nobody uses is dropped, can be brought back with its data, and the log tells why. */
export async function tablesDemo(stage: Stage, daySeconds: number): Promise<void> {
  const dayMs = daySeconds * 1000;
  stage.chapter("A table nobody uses expires");
  stage.say(`A retention day lasts ${daySeconds} seconds here, and a sweep runs every second.`);
  await stage.lapse(["env", "create", "dev"]);
  await stage.lapse([
    "sql",
    "SELECT range AS id, random() AS v FROM range(100000)",
    "--into",
    "bronze.trial",
    "--mode",
    "create",
    "--expire-after",
    "1",
  ]);
  await stage.lapse(["sql", "SELECT 1 AS id", "--into", "bronze.precious", "--mode", "create"]);
  await stage.lapse(["table", "retention", "bronze.trial"]);

  stage.say("While it is read, it lives: each query moves its expiry a day on.");
  const created = Date.now();
  while (Date.now() - created < 1.5 * dayMs) {
    await stage.json(["sql", "SELECT count(*) FROM bronze.trial"]);
    await delay(Math.min(1_000, dayMs / 4));
  }
  await stage.lapse(["sql", "SELECT count(*) AS rows FROM bronze.trial"]);
  stage.check(true, "more than a day after it was written, the table is still there");
  await stage.lapse(["table", "expiring", "--within", "2d"]);

  stage.say("Now nobody reads it.");
  const { id } = await stage.json<TableView>(["table", "get", "bronze.trial"]);
  const { expires_at } = await stage.json<RetentionView>(["table", "retention", "bronze.trial"]);
  let lastSeen = 0;
  await stage.until("the sweep dropped it", async () => {
    const asked = Date.now();
    const { code } = await stage.run(["table", "get", "bronze.trial"]);
    if (code === 0) lastSeen = asked;
    return code === 4;
  });
  const [dropped] = await stage
    .json<{ items: Decision[] }>(["audit", "list", "--type", "TABLE_DROPPED", "--resource", id])
    .then((page) => page.items);
  stage.check(dropped !== undefined && lastSeen > 0, "the drop is in the audit log");
  stage.check(
    dropped?.details.retention?.expired_at === expires_at,
    `it was dropped because it expired at ${expires_at}, and not before`,
  );
  await stage.lapse(["table", "get", "bronze.trial"], 4);
  await stage.lapse(["table", "dropped"]);

  stage.chapter("It comes back, with its data");
  await stage.lapse(["table", "undrop", "bronze.trial"]);
  await stage.lapse(["sweep", "run"]);
  const counted = await stage.json<[{ rows: string }]>([
    "sql",
    "SELECT count(*) AS rows FROM bronze.trial",
  ]);
  stage.check(
    counted[0].rows === "100000",
    "the next sweep leaves it alone, and all 100,000 rows are back",
  );

  stage.chapter("Keep one, let a whole environment expire");
  await stage.lapse(["table", "retention", "bronze.precious", "--never"]);
  await stage.lapse(["table", "create", "bronze.scratch", "--column", "id:long"]);
  const scratch = await stage.json<TableView>(["table", "get", "bronze.scratch"]);
  await stage.lapse(["env", "retention", "dev", "--days", "1", "--yes"]);
  await stage.until(
    "bronze.scratch, which sets nothing itself, was dropped by the environment's rule",
    async () => (await stage.run(["table", "get", "bronze.scratch"])).code === 4,
  );
  stage.check(
    (await stage.run(["table", "get", "bronze.precious"])).code === 0,
    "bronze.precious, which says never, is still there",
  );
  await stage.until("after the undo period its files are purged for good", async () => {
    const page = await stage.json<{ items: Decision[] }>([
      "audit",
      "list",
      "--type",
      "TABLE_PURGED",
      "--resource",
      scratch.id,
    ]);
    return page.items.length === 1;
  });
  await stage.lapse(["table", "undrop", "bronze.scratch", "--id", scratch.id], 4);

  stage.chapter("Anyone can see why");
  await stage.lapse(["audit", "list", "--resource", "bronze.trial"]);
  const log = await stage.json<{ items: Decision[] }>([
    "audit",
    "list",
    "--resource",
    id,
    "--limit",
    "1000",
  ]);
  for (const [type, claim] of [
    ["TABLE_RETENTION_SET", "who set the retention is on record"],
    ["TABLE_RESTORED", "so is the restore"],
  ] as const) {
    stage.check(
      log.items.some((decision) => decision.type === type && decision.actor !== null),
      claim,
    );
  }
  stage.check(
    log.items.some(
      (decision) =>
        decision.type === "TABLE_DROPPED" &&
        decision.reason === "retention" &&
        decision.actor === null,
    ),
    "and the drop, by nobody, for its retention",
  );
  await stage.lapse(["audit", "verify"]);
}
