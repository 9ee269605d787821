import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { waitFor } from "@lapse/test-kit";
import type { JsonObject, Rest } from "./rest.ts";
import { type System, startSystem } from "./system.ts";

const DAY_MS = 2_000;
const UNDO_DAYS = 8;
let system: System;
let rest: Rest;

beforeAll(async () => {
  system = await startSystem({
    LAPSE_TIME__DAY_SECONDS: String(DAY_MS / 1000),
    LAPSE_RUN__SWEEP_INTERVAL: "1",
    LAPSE_TABLES__UNDO_DAYS: String(UNDO_DAYS),
  });
  rest = system.rest(system.token);
  await ok("POST", "/api/v1/environments", { name: "dev" });
}, 120_000);
afterAll(() => system?.stop(), 60_000);

const DEV = "/api/v1/environments/dev";
const pathOf = (fullName: string, environment = "dev") => {
  const dot = fullName.lastIndexOf(".");
  const [namespace, name] = [fullName.slice(0, dot), fullName.slice(dot + 1)];
  return `/api/v1/environments/${environment}/namespaces/${namespace}/tables/${name}`;
};
async function ok(method: string, path: string, body?: unknown): Promise<JsonObject> {
  const answer = await rest(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
  return answer.body;
}
const isGone = async (fullName: string) => (await rest("GET", pathOf(fullName))).status === 404;
const items = (answer: JsonObject) => answer.items as JsonObject[];
const makeTable = (fullName: string, more: object = {}) => {
  const [namespace, name] = fullName.split(".");
  return ok("POST", `${DEV}/namespaces/${namespace}/tables`, { name, ...more });
};
/** A table with files. */
async function writeTable(
  fullName: string,
  rows: number,
  environment = "dev",
): Promise<JsonObject> {
  const query = `SELECT range AS id, 'p' || range AS email, 'DE' AS country FROM range(${rows})`;
  const into = ["--into", fullName, "--mode", "create", "--env", environment];
  expect(await system.lapse("sql", query, ...into)).toMatchObject({ code: 0 });
  return ok("GET", pathOf(fullName, environment));
}

describe("T27 T28 a table with access rules that expires", () => {
  const person = async (subject: string) =>
    system.rest(await system.sign({ subject, kind: "person", tenant: "local", roles: [] }));

  test("loses all of it, and has all of it back, equal, with undrop", async () => {
    await writeTable("access.trial", 500);
    const path = pathOf("access.trial");
    const access = `${path}/access`;
    await ok("POST", `${access}/grants`, { subject: "gus", right: "read" });
    await ok("POST", `${access}/grants`, { subject: "wim", right: "write" });
    await ok("PUT", `${access}/filters/eu`, {
      applies_to: "gus",
      column: "country",
      operator: "in",
      values: ["DE", "FR"],
    });
    await ok("PUT", `${access}/masks/email?applies_to=gus`, { mask: "hash" });
    await ok("PATCH", path, { description: "with access rules" });
    const gus = await person("gus");
    expect((await gus("GET", path)).status).toBe(200);
    expect(await gus("GET", `${path}/files`)).toMatchObject({
      body: { code: "POLICY_NOT_APPLIED" },
    });
    const files = async () => (await ok("GET", `${path}/files`)).files;
    const before = {
      table: await ok("GET", path),
      access: await ok("GET", access),
      files: await files(),
    };
    expect(before.access).toMatchObject({ applies: true });

    const set = await ok("PUT", `${path}/retention`, { days: 1 });
    await waitFor(() => isGone("access.trial"), { timeoutMs: 15_000 });
    const { id } = before.table;
    expect((await gus("GET", path)).status).not.toBe(200);
    expect((await gus("GET", `/api/v1/tables/${id}/files?applies_policies=true`)).status).not.toBe(
      200,
    );
    expect(items(await ok("GET", `${DEV}/tables`)).map((one) => one.id)).not.toContain(id);
    expect(await ok("GET", `/api/v1/tables/${id}/access`)).toMatchObject({ applies: false });

    const undropped = await system.lapse("table", "undrop", "access.trial");
    expect(undropped).toMatchObject({ code: 0 });
    await ok("PUT", `${path}/retention`, { never: true });
    expect(await ok("GET", access)).toEqual(before.access);
    expect(await files()).toEqual(before.files);
    const same = ["id", "owner", "columns", "description", "full_name", "location", "row_count"];
    const after = await ok("GET", path);
    expect(pick(after, same)).toEqual(pick(before.table, same));
    expect((await gus("GET", path)).status).toBe(200);
    const decisions = items(await ok("GET", `/api/v1/audit?resource=${id}&limit=1000`));
    expect(decisions.find(({ type }) => type === "TABLE_DROPPED")).toMatchObject({
      actor: null,
      reason: "retention",
      details: { retention: { source: "table", days: 1, set_by: "admin" } },
    });
    expect(set).toMatchObject({ days: 1, shortened: true });
    const counted = await system.lapse(
      ...["sql", "SELECT count(*) AS n FROM access.trial", "--json"],
    );
    expect(JSON.parse(counted.stdout)).toEqual([{ n: "500" }]);
  }, 60_000);
});

const pick = (from: JsonObject, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, from[name]]));

describe("T29 a name that is taken meanwhile", () => {
  test("several dropped generations are listed, told apart, and brought back under new names", async () => {
    const generations = [];
    for (const description of ["one", "two"]) {
      generations.push(await makeTable("gen.t", { description }));
      await ok("DELETE", pathOf("gen.t"));
    }
    const [first, second] = generations;
    const current = await makeTable("gen.t", { description: "three" });
    const listed = items(await ok("GET", `${DEV}/dropped-tables?name=gen.t`));
    expect(listed.map(({ id, description }) => [id, description])).toEqual([
      [second?.id, "two"],
      [first?.id, "one"],
    ]);
    expect(listed.every(({ dropped_at: at, undo_until: until }) => at && until)).toBe(true);
    const taken = await system.lapse("table", "undrop", "gen.t");
    expect(taken).toMatchObject({ code: 3, stderr: expect.stringMatching(/--as/) });
    const back = await system.lapse("table", "undrop", "gen.t", "--as", "t2");
    expect(back).toMatchObject({ code: 0, stderr: "" });
    expect(await ok("GET", pathOf("gen.t2"))).toMatchObject({ id: second?.id });
    await ok("POST", `${DEV}/dropped-tables/${first?.id}/undrop`, { as: "t1" });
    expect(await ok("GET", pathOf("gen.t1"))).toMatchObject({ id: first?.id });
    expect(await ok("GET", pathOf("gen.t"))).toMatchObject({ id: current.id });
  }, 40_000);
});

describe("T31 an environment or namespace with tables", () => {
  test("T30 is not deleted while one is live or can come back; once it is purged, it is", async () => {
    await ok("POST", "/api/v1/environments", { name: "tmp" });
    const tmp = "/api/v1/environments/tmp";
    const { id, location } = await writeTable("a.b.t", 10, "tmp");
    const folder = fileURLToPath(String(location));
    expect(readdirSync(folder)).not.toEqual([]);
    const refusedFor = async (path: string) => {
      const answer = await rest("DELETE", path);
      expect(answer.status).toBe(409);
      return JSON.stringify(answer.body);
    };
    for (const path of [tmp, `${tmp}/namespaces/a.b`, `${tmp}/namespaces/a`]) {
      expect(await refusedFor(path)).toContain("a.b.t");
    }
    await ok("DELETE", `${tmp}/namespaces/a.b/tables/t`);
    expect(await refusedFor(tmp)).toContain("a.b.t");
    await waitFor(
      async () => {
        const found = items(await ok("GET", `/api/v1/audit?resource=${id}&type=TABLE_PURGED`));
        return found.length === 1;
      },
      { timeoutMs: 20_000, message: "it was not purged" },
    );
    expect(existsSync(folder)).toBe(false);
    const late = await rest("POST", `${tmp}/dropped-tables/${id}/undrop`);
    expect(late.status).toBe(404);
    await ok("DELETE", `${tmp}/namespaces/a.b`);
    expect((await rest("DELETE", tmp)).status).toBe(204);
    expect((await rest("GET", tmp)).status).toBe(404);
    await ok("POST", "/api/v1/environments", { name: "tmp" });
  }, 40_000);
});
