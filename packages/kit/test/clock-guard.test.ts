import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { cleanClockHolds } from "../src/cleanup.ts";
import {
  type ClockLook,
  confirmClockHold,
  findClockHold,
  heldByClock,
  lookAtClock,
  type Pool,
  peekAtClock,
  withTransaction,
} from "../src/index.ts";
import { kitDatabase } from "./support/setup.ts";

let database: Awaited<ReturnType<typeof kitDatabase>>;
let pool: Pool;
const use = "sweep";
const HOUR = 3_600_000;

beforeAll(async () => {
  database = await kitDatabase("clock guard");
  pool = database.pool;
});
afterAll(() => database.close());
beforeEach(() => pool.query("truncate lapse_kit.clock_watch, lapse_kit.clock_hold"));

const look = (options: { use?: string; tenants?: readonly string[] } = {}): Promise<ClockLook> =>
  withTransaction(pool, (tx) =>
    lookAtClock(tx, {
      use: options.use ?? use,
      intervalMs: HOUR,
      tenants: async () => options.tenants ?? ["a", "b"],
    }),
  );
/** As if the clock had been set by `ms` since the last look. */
const setClock = (ms: number, of = use) =>
  pool.query(
    `update lapse_kit.clock_watch set last_seen_at = last_seen_at - make_interval(secs => $1 / 1000.0)
     where use = $2`,
    [ms, of],
  );
const held = async (of = use) => [...(await heldByClock(pool, of))].sort();
const confirm = (tenant: string, holdId?: string) =>
  withTransaction(pool, (tx) =>
    confirmClockHold(tx, { use, tenant, by: "ana", ...(holdId !== undefined && { holdId }) }),
  );

describe("the clock guard", () => {
  test("T26 a first look never holds, and neither does one after the other", async () => {
    expect(await look()).toMatchObject({ fault: null, raised: [] });
    const { rows } = await pool.query<{ now: Date }>("select clock_timestamp() as now");
    const second = await look();
    expect(second).toMatchObject({ fault: null, raised: [] });
    expect(second.now.getTime()).toBeGreaterThanOrEqual((rows[0]?.now.getTime() ?? 0) - 1);
    expect(await held()).toEqual([]);
  });

  test.each([
    ["behind", -10_000],
    ["ahead", 4 * HOUR],
  ])("T26 a clock that is %s holds every tenant until each has confirmed", async (kind, ms) => {
    await look();
    await setClock(ms);
    const { fault, raised, now } = await look();
    expect(fault?.kind).toBe(kind);
    expect(raised.map(({ tenant }) => tenant)).toEqual(["a", "b"]);
    expect(raised[0]).toMatchObject({ raisedAt: now, confirmedBy: null, confirmedAt: null });
    expect(raised[0]?.lastSeenAt).toEqual(fault?.last);
    expect((await look()).raised).toEqual([]);
    expect(await held()).toEqual(["a", "b"]);

    expect(await confirm("a")).toMatchObject({ tenant: "a", confirmedBy: "ana" });
    expect(await held()).toEqual(["b"]);
    expect(await findClockHold(pool, { use, tenant: "a" })).toBeUndefined();
    expect(await findClockHold(pool, { use, tenant: "b" })).toEqual(raised[1]);
    expect(await confirm("a")).toBeUndefined();
  });

  test("T26 without the jump, the same looks hold nothing", async () => {
    await look();
    await setClock(2 * HOUR);
    expect((await look()).fault).toBeNull();
    expect(await held()).toEqual([]);
  });

  test("T26 a second jump replaces the hold, so that nobody confirms one they have not seen", async () => {
    await look();
    await setClock(4 * HOUR);
    const [first] = (await look({ tenants: ["a"] })).raised;
    await setClock(-4 * HOUR);
    const [second] = (await look({ tenants: ["a"] })).raised;
    expect(await confirm("a", first?.holdId)).toBeUndefined();
    expect(await held()).toEqual(["a"]);
    expect((await confirm("a", second?.holdId))?.holdId).toBe(second?.holdId);
    expect(await held()).toEqual([]);
  });

  test("T26 a hold of one tenant is not another's to confirm", async () => {
    await look();
    await setClock(-10_000);
    const { raised } = await look();
    expect(await confirm("b", raised[0]?.holdId)).toBeUndefined();
    expect(await held()).toEqual(["a", "b"]);
  });

  test("each use has a watch and holds of its own", async () => {
    await look();
    await look({ use: "purge" });
    await setClock(-10_000, "purge");
    expect((await look()).fault).toBeNull();
    await look({ use: "purge" });
    expect(await held()).toEqual([]);
    expect(await held("purge")).toEqual(["a", "b"]);
  });

  test("looks at the same time take turns, and none takes the other's for a jump", async () => {
    const looks = await Promise.all(Array.from({ length: 8 }, () => look()));
    expect(looks.filter(({ fault }) => fault !== null)).toEqual([]);
    expect(await held()).toEqual([]);
  });

  test("T25 a peek sees the same fault, and neither notes nor raises anything", async () => {
    const peek = () => peekAtClock(pool, { use, intervalMs: HOUR });
    expect((await peek()).fault).toBeNull();
    await look();
    await setClock(-10_000);
    const tables = async () => [
      (await pool.query("select * from lapse_kit.clock_watch")).rows,
      (await pool.query("select * from lapse_kit.clock_hold")).rows,
    ];
    const before = await tables();
    expect((await peek()).fault?.kind).toBe("behind");
    expect(await tables()).toEqual(before);
  });

  test("a hold that ended is forgotten after 90 days, one that is open is not", async () => {
    await look();
    await setClock(-10_000);
    await look({ tenants: ["a", "b", "c"] });
    await confirm("a");
    await confirm("b");
    await pool.query(
      `update lapse_kit.clock_hold set raised_at = raised_at - interval '91 days',
         ended_at = ended_at - case tenant when 'a' then interval '91 days' else interval '89 days' end`,
    );
    expect(await cleanClockHolds(pool)).toBe(1);
    const { rows } = await pool.query(`select tenant from lapse_kit.clock_hold order by tenant`);
    expect(rows).toEqual([{ tenant: "b" }, { tenant: "c" }]);
  });
});
