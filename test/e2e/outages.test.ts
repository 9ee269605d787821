import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { LapseApiError } from "@lapse/sdk";
import { waitFor } from "@lapse/test-kit";
import { decisionsAbout, type System, startSystem } from "./system.ts";

const DAY_MS = 4_000;
let system: System;

beforeAll(async () => {
  system = await startSystem({
    LAPSE_TIME__DAY_SECONDS: String(DAY_MS / 1000),
    LAPSE_RUN__SWEEP_INTERVAL: "1",
    LAPSE_TABLES__UNDO_DAYS: "30",
  });
  await system.client.environments.create("dev");
}, 120_000);
afterAll(() => system?.stop(), 60_000);

/** The whole flow once: written, kept by reading, dropped when due, brought back; `disturb` comes in between. */
async function flow(name: string, disturb: () => Promise<void>): Promise<void> {
  const { client, lapse } = system;
  const ran = await lapse(
    ...["sql", "SELECT range AS id FROM range(500)"],
    ...["--into", name, "--mode", "create", "--expire-after", "1"],
  );
  expect(ran).toMatchObject({ code: 0 });
  const { id } = await client.tables.get("dev", name);
  await disturb();
  const dropped = await waitFor(
    async () => (await decisionsAbout(client, id)).find((one) => one.type === "TABLE_DROPPED"),
    { timeoutMs: 90_000, everyMs: 300, message: `${name} was not dropped` },
  );
  const retention = dropped.details.retention as { expired_at: string };
  expect(dropped.at.getTime()).toBeGreaterThanOrEqual(Date.parse(retention.expired_at));
  const restored = await waitFor(() => client.tables.undropById("dev", id), { timeoutMs: 30_000 });
  expect(restored).toMatchObject({ id, row_count: 500, state: "live" });
  await client.tables.setRetention("dev", name, { never: true });
  const decisions = await waitFor(
    async () => {
      const all = await decisionsAbout(client, id);
      return all.some((one) => one.type === "TABLE_RESTORED") ? all : undefined;
    },
    { timeoutMs: 30_000 },
  );
  const count = (type: string) => decisions.filter((one) => one.type === type).length;
  expect({ dropped: count("TABLE_DROPPED"), restored: count("TABLE_RESTORED") }).toEqual({
    dropped: 1,
    restored: 1,
  });
}

describe("the flow ends the same way", () => {
  test.each(["catalog", "retention-policy", "lifecycle-evaluator", "audit", "gateway"])(
    "when %s is killed while a table becomes due",
    async (name) => {
      await flow(`killed.${name.replace("-", "_")}`, async () => {
        await new Promise((resolve) => setTimeout(resolve, DAY_MS * (0.7 + Math.random() * 0.5)));
        process.kill(system.pid(name), "SIGKILL");
      });
    },
    150_000,
  );

  test("when nats-server stands still: meanwhile nothing is dropped", async () => {
    await flow("away.nats", async () => {
      const pid = system.pid("nats");
      process.kill(pid, "SIGSTOP");
      try {
        await new Promise((resolve) => setTimeout(resolve, 3 * DAY_MS));
        const still = await system.client.tables.get("dev", "away.nats").catch((error: unknown) => {
          if (error instanceof LapseApiError && error.notFound) throw error;
          return "the service is slow, not the table gone";
        });
        expect(still).toBeTruthy();
      } finally {
        process.kill(pid, "SIGCONT");
      }
    });
  }, 150_000);

  test("when nats-server and postgres are killed", async () => {
    await flow("killed.infrastructure", async () => {
      process.kill(system.pid("nats"), "SIGKILL");
      process.kill(system.pid("postgres"), "SIGKILL");
      await waitFor(() => system.client.environments.list().page(), { timeoutMs: 60_000 });
    });
  }, 150_000);

  test("and the chain of decisions is whole afterwards", async () => {
    const verified = await waitFor(
      async () => {
        const result = await system.client.audit.verify();
        return result.ok && result.gaps.length === 0 ? result : undefined;
      },
      { timeoutMs: 60_000 },
    );
    expect(verified).toMatchObject({ ok: true, gaps: [] });
  }, 90_000);
});
