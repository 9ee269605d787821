import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, jest, test } from "@jest/globals";
import { createPool, migrate, newId } from "@lapse/kit";
import { testDatabase } from "@lapse/test-kit";
import { findPause } from "../src/store/sweep-pauses.ts";
import { listSweeps } from "../src/store/sweep-records.ts";
import { quiet } from "./lab/database.ts";

jest.setTimeout(60_000);
const MIGRATIONS = join(import.meta.dirname, "..", "migrations");

/** A folder with the first migrations only. */
async function firstMigrations(count: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "lapse-migrations-"));
  for (const name of (await readdir(MIGRATIONS)).sort().slice(0, count))
    await cp(join(MIGRATIONS, name), join(folder, name));
  return folder;
}

test("T25 sweeps and pauses from before they were of a tenant are kept, and each tenant sees its part", async () => {
  const before = await firstMigrations(3);
  const { url, drop } = await testDatabase({ migrations: before, name: "migrations" });
  const pool = createPool({ url, applicationName: "test", log: quiet });
  try {
    const sweepId = newId();
    await pool.query(
      `insert into environment_state (environment_id, tenant, name, change_version)
       select gen_random_uuid(), t, 'dev', 1 from unnest(array['local', 'other']) as t`,
    );
    await pool.query(
      `update sweep_control set paused = true, paused_by = 'ana', pause_reason = 'moving house'`,
    );
    await pool.query(
      `insert into sweep (sweep_id, status, started_at, finished_at, due, capped)
       values ($1, 'completed', now(), now(), 3, true)`,
      [sweepId],
    );
    await pool.query(
      `insert into sweep_candidate (sweep_id, table_id, tenant, name, outcome, reason, issued_at)
       select $1, gen_random_uuid(), t, 'bronze.trial', o, r, now()
       from (values ('local', 'dropped', ''), ('local', 'kept', 'held'), ('other', 'dropped', '')) as v (t, o, r)`,
      [sweepId],
    );
    await pool.query(
      `insert into sweep_tally (sweep_id, outcome, reason, tables)
       values ($1, 'dropped', '', 2), ($1, 'kept', 'held', 1)`,
      [sweepId],
    );
    await pool.query(`insert into sweep (sweep_id, status) values ($1, 'requested')`, [newId()]);

    await migrate({ pool, directory: MIGRATIONS, log: quiet });

    for (const tenant of ["local", "other"]) {
      expect(await findPause(pool, tenant)).toEqual({ pausedBy: "ana", reason: "moving house" });
    }
    const seenBy = async (viewer: string | null) => {
      const sweeps = await listSweeps(pool, { before: null, limit: 10, viewer });
      return sweeps.find((sweep) => sweep.sweepId === sweepId);
    };
    expect(await seenBy("local")).toMatchObject({
      due: 2,
      dropped: 1,
      kept: { held: 1 },
      capped: true,
    });
    expect(await seenBy("other")).toMatchObject({ due: 1, dropped: 1, kept: {} });
    expect(await seenBy(null)).toMatchObject({ due: 3, dropped: 2, kept: { held: 1 } });
  } finally {
    await pool.end();
    await drop();
    await rm(before, { recursive: true });
  }
});
