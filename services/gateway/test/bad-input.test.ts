import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Harness, startHarness } from "./harness.ts";
import { aKey, anAccess, aTable, at, TABLE_ID } from "./messages.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => harness.reset());
afterAll(() => harness.stop());

const TABLE = `/api/v1/tables/${TABLE_ID}`;
const DEV = "/api/v1/environments/dev";

interface Write {
  readonly route: readonly ["POST" | "PUT" | "PATCH", string];
  /** A body that is taken, with every field that there is. */
  readonly body: Readonly<Record<string, unknown>>;
}

const WRITES: readonly Write[] = [
  {
    route: ["PATCH", TABLE],
    body: { description: "d", name: "trial2", namespace: "silver" },
  },
  { route: ["POST", `${TABLE}/access/grants`], body: { subject: "rita", right: "read" } },
  {
    route: ["PUT", `${TABLE}/access/filters/f`],
    body: { applies_to: "*", column: "a", operator: "=", values: ["1"] },
  },
  { route: ["PUT", `${TABLE}/access/masks/a`], body: { mask: "null" } },
  {
    route: ["POST", "/api/v1/roles"],
    body: { subject: "rita", role: "reader", environment: "dev" },
  },
  {
    route: ["POST", "/api/v1/api-keys"],
    body: { name: "n", roles: ["reader"], expires_in_days: 1 },
  },
  { route: ["POST", `${DEV}/namespaces`], body: { path: "bronze" } },
  { route: ["PUT", `${DEV}/projects/shop`], body: { version: "1", assets: ["gold.orders"] } },
];

const send = ({ route: [method, path] }: Write, body: unknown) =>
  harness.call(method, path, { body });

const pointersOf = ({ json }: Awaited<ReturnType<typeof send>>) =>
  json.errors.map(({ pointer }) => pointer);

describe.each(WRITES)("the body of $route", (write) => {
  test("T10 with a field that is not known is refused, pointing at it", async () => {
    const answer = await send(write, { ...write.body, "sur/prise": 1, constructor_: null });
    expect(answer.status).toBe(400);
    expect(answer.json.code).toBe("REQUEST_INVALID");
    expect(pointersOf(answer)).toEqual(["#/sur~1prise", "#/constructor_"]);
    expect(harness.calls).toHaveLength(0);
  });

  test("T10 with values of a wrong type is refused, pointing at each", async () => {
    const wrong: readonly unknown[] = [null, 1.5, true, {}, [[]], { a: [1] }, ["\ud800"]];
    for (const value of wrong) {
      const fields = Object.keys(write.body);
      const answer = await send(write, Object.fromEntries(fields.map((field) => [field, value])));
      expect(answer.status).toBe(400);
      const named = new Set(pointersOf(answer).map((pointer) => pointer.split("/")[1]));
      expect([...named].sort()).toEqual([...fields].sort());
    }
    expect(harness.calls).toHaveLength(0);
  });

  test("T10 with texts that are far too long, broken or empty where a name is due is refused", async () => {
    for (const text of ["x".repeat(20_000), "half a character: \ud800"]) {
      const fields = Object.keys(write.body).filter(
        (field) => typeof write.body[field] === "string",
      );
      const answer = await send(write, { ...write.body, ...allOf(fields, text) });
      expect(answer.status).toBe(400);
      expect(pointersOf(answer).sort()).toEqual(fields.map((field) => `#/${field}`).sort());
    }
    const names = Object.keys(write.body).filter(
      (field) => typeof write.body[field] === "string" && field !== "description",
    );
    expect((await send(write, { ...write.body, ...allOf(names, "") })).status).toBe(400);
    expect(harness.calls).toHaveLength(0);
  });

  test("T10 that is no object is refused", async () => {
    for (const body of [[write.body], "text", 7, [], "null"]) {
      expect((await send(write, body)).status).toBe(400);
    }
  });
});

const allOf = (fields: readonly string[], value: string) =>
  Object.fromEntries(fields.map((field) => [field, value]));

/** Any text that is well-formed, with what breaks paths, SQL and logs in it more often than by chance. */
const awkward = fc
  .oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 60 }),
    fc
      .array(
        fc.constantFrom(
          "'",
          '"',
          "/",
          "\\",
          ".",
          "..",
          "%",
          "%2F",
          "?",
          "#",
          "ü",
          "🦆",
          "\n",
          "\0",
          "; drop table x --",
          "$1",
          " ",
        ),
        { minLength: 1, maxLength: 8 },
      )
      .map((parts) => parts.join("")),
  )
  // These are what a path is made of: no client sends them as a part of one.
  .filter((text) => text.trim() !== "" && !/^\.{1,2}$/.test(text));

describe("a name, whatever is in it", () => {
  test("T10 reaches the service that judges it as it was, from path, query and body", async () => {
    const seen: unknown[] = [];
    const { access, catalog } = harness.fakes;
    access.revokeTable = ({ table, subject }) => {
      seen.push(table?.ref.value, subject);
      return { access: anAccess() };
    };
    access.removeColumnMask = ({ column, appliesTo }) => {
      seen.push(column, appliesTo);
      return { access: anAccess() };
    };
    catalog.deployProject = ({ project, version }) => {
      seen.push(project, version);
      const deployedAt = at("2026-11-30T12:00:00Z");
      return { project: { name: project, environment: "dev", version, deployedAt } };
    };
    await fc.assert(
      fc.asyncProperty(awkward, awkward, awkward, async (a, b, c) => {
        seen.length = 0;
        const [x, y, z] = [a, b, c].map(encodeURIComponent);
        const table = `/api/v1/environments/${x}/namespaces/${y}/tables/${z}`;
        const answers = [
          await harness.call("DELETE", `${table}/access/grants/${x}/read`),
          await harness.call("DELETE", `${TABLE}/access/masks/${y}?applies_to=${z}`),
          await harness.call("PUT", `/api/v1/environments/dev/projects/${z}`, {
            body: { version: x },
          }),
        ];
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
        expect(seen).toEqual([
          expect.objectContaining({ environment: a, namespace: b, name: c }),
          a,
          b,
          c,
          c,
          x,
        ]);
      }),
      { numRuns: 60 },
    );
  });

  test("T10 that is only dots or spaces is a name like others: the service judges it", async () => {
    harness.fakes.access.createApiKey = ({ name }) => ({ key: aKey({ name }), token: "t" });
    harness.fakes.catalog.createNamespace = ({ path }) => ({
      namespace: { environment: "dev", path, createdAt: at("2026-11-30T12:00:00Z") },
    });
    for (const name of ["..", " ", ".", "a..b"]) {
      const key = await harness.call("POST", "/api/v1/api-keys", { body: { name } });
      expect(key.json.name).toBe(name);
      const space = await harness.call("POST", `${DEV}/namespaces`, { body: { path: name } });
      expect(space.json.path).toBe(name);
    }
  });

  test("T10 any JSON at all as a body is answered, never with a fault of ours", async () => {
    harness.fakes.catalog.updateTable = () => ({ table: aTable() });
    harness.fakes.evaluator.batchGetTableExpiry = () => ({});
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...WRITES), fc.json(), async (write, body) => {
        const [method, path] = write.route;
        const { status } = await harness.call(method, path, { body });
        expect(status).toBe(400);
      }),
      { numRuns: 150 },
    );
  });
});
