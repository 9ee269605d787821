import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createClient, type LapseClient, LapseInputError } from "@lapse/sdk";
import { json, problem, startTestServer, type TestServer } from "./test-server.ts";

let server: TestServer;
let client: LapseClient;
beforeEach(async () => {
  server = await startTestServer();
  client = createClient({ url: server.url, token: "t" });
});
afterEach(() => server.close());

const asked = () => server.received.map(({ url }) => url);

describe("what is answered", () => {
  test("has times as dates to the millisecond, in records within records too", async () => {
    const hold = { id: "h", raised_at: "2026-11-30T12:00:00.123Z", confirmed_at: null };
    server.answer(json({ sweep: null, would_drop: [], held: [hold] }));
    const { held } = await client.sweeps.run({ dryRun: true });
    expect(held).toEqual([{ ...hold, raised_at: new Date("2026-11-30T12:00:00.123Z") }]);
  });

  test("written as JSON again is what came", async () => {
    const decision = {
      seq: 1,
      at: "2026-11-30T12:00:00.120Z",
      details: { expires_at: "2026-12-01" },
    };
    server.answer(json({ items: [decision], next_cursor: null }));
    const page = await client.audit.list().page();
    expect(page.items[0]?.at).toBeInstanceOf(Date);
    expect(JSON.parse(JSON.stringify(page.items[0]))).toEqual(decision);
  });

  test.each(["9007199254740992", "18446744073709551615", "-9007199254740993", "1e300"])(
    "with the whole number %s, which a number cannot hold, is refused and not rounded",
    async (number) => {
      server.answer((response) =>
        response
          .writeHead(200, { "content-type": "application/json" })
          .end(`{"row_count":${number}}`),
      );
      await expect(client.tables.get("dev", "a.b")).rejects.toMatchObject({
        code: "ANSWER_UNREADABLE",
        message: expect.stringMatching(/row_count/),
      });
    },
  );

  test("with the largest whole number that is exact is taken", async () => {
    server.answer(json({ row_count: Number.MAX_SAFE_INTEGER, share: 0.5 }));
    expect(await client.tables.get("dev", "a.b")).toEqual({
      row_count: 9007199254740991,
      share: 0.5,
    });
  });
});

describe("what is asked", () => {
  test.each(["", ".", ".."])(
    "with the name %j, which would lead elsewhere, is not sent",
    async (name) => {
      await expect(client.environments.get(name)).rejects.toThrow(LapseInputError);
      await expect(client.tables.byId(name).get()).rejects.toThrow(LapseInputError);
      expect(server.received).toEqual([]);
    },
  );

  test("with a table's name that has no namespace is not sent", async () => {
    await expect(client.tables.rename("dev", "a.b", "b")).rejects.toThrow(LapseInputError);
    expect(server.received).toEqual([]);
  });

  test("with a time that is none is not sent", async () => {
    const since = new Date("yesterday");
    await expect(client.audit.list({ since }).page()).rejects.toThrow(LapseInputError);
    expect(server.received).toEqual([]);
  });

  test("takes every name as data", async () => {
    server.answer(json({}));
    const odd = 'a/b?c=d#e%41 "ü".x';
    await client.tables.access.setMask("dev", odd, "e/m", {
      mask: "hash",
      applies_to: "role:reader",
    });
    await client.tables.access.revoke("dev", "a.b", { subject: "a/../b", right: "read" });
    const [mask, revoke] = asked();
    const part = encodeURIComponent;
    expect(mask).toBe(
      `/api/v1/environments/dev/namespaces/${part('a/b?c=d#e%41 "ü"')}/tables/x/access/masks/e%2Fm?applies_to=role%3Areader`,
    );
    expect(revoke).toBe(
      "/api/v1/environments/dev/namespaces/a/tables/b/access/grants/a%2F..%2Fb/read",
    );
  });
});

describe("a list", () => {
  const page = (names: readonly string[], next_cursor: string | null) =>
    json({ items: names.map((name) => ({ name })), next_cursor });

  test("is walked to its end, page by page, with its filter on every page", async () => {
    server.answer(page(["a", "b"], "2"), page([], "3"), page(["c"], null));
    const names: string[] = [];
    for await (const { name } of client.tables.dropped("dev", { name: "x.y" })) names.push(name);
    expect(names).toEqual(["a", "b", "c"]);
    const start = "/api/v1/environments/dev/dropped-tables?name=x.y&limit=500";
    expect(asked()).toEqual([start, `${start}&cursor=2`, `${start}&cursor=3`]);
  });

  test("fetches nothing before it is walked, and nothing beyond where the walk is left", async () => {
    server.answer(page(["a", "b"], "2"));
    const list = client.environments.list();
    expect(asked()).toEqual([]);
    for await (const { name } of list) {
      expect(name).toBe("a");
      break;
    }
    expect(asked()).toHaveLength(1);
  });

  test("is fetched one page at a time where that is wanted", async () => {
    server.answer(page(["a"], "2"), page(["a"], "2"), page(["b"], null));
    const list = client.environments.list();
    expect(await list.page({ limit: 1 })).toEqual({ items: [{ name: "a" }], next_cursor: "2" });
    const sizes: number[] = [];
    for await (const { items } of list.pages({ limit: 1 })) sizes.push(items.length);
    expect(sizes).toEqual([1, 1]);
    expect(asked()).toEqual([
      "/api/v1/environments?limit=1",
      "/api/v1/environments?limit=1",
      "/api/v1/environments?limit=1&cursor=2",
    ]);
  });

  test("that goes round is an error and no endless walk", async () => {
    server.answer(page(["a"], "2"));
    const walk = async () => {
      for await (const one of client.environments.list()) void one;
    };
    await expect(walk()).rejects.toMatchObject({ code: "ANSWER_UNREADABLE" });
    expect(asked()).toHaveLength(2);
  });
});

describe("the files of a table", () => {
  const files = (paths: readonly string[], next_cursor: string | null, snapshot = "s1") =>
    json({
      snapshot_id: snapshot,
      files: paths.map((path) => ({ path })),
      next_cursor,
      row_filters: [],
      column_masks: [],
      table: { id: "t", created_at: "2026-11-30T12:00:00Z" },
    });
  const moved = problem(409, { code: "SNAPSHOT_CHANGED" });

  test("are all pages of one snapshot", async () => {
    server.answer(files(["a", "b"], "2"), files(["c"], null));
    const found = await client.tables.files("dev", "x.y", { appliesPolicies: true });
    expect(found.files.map(({ path }) => path)).toEqual(["a", "b", "c"]);
    expect(found).toMatchObject({ snapshot_id: "s1", table: { created_at: expect.any(Date) } });
    expect(found).not.toHaveProperty("next_cursor");
    expect(asked()[1]).toMatch(/\?limit=10000&cursor=2&applies_policies=true$/);
  });

  test("are listed anew when a commit comes between two pages", async () => {
    server.answer(files(["a"], "2"), moved, files(["b"], "2", "s2"), files(["c"], null, "s2"));
    const found = await client.tables.files("dev", "x.y");
    expect(found.snapshot_id).toBe("s2");
    expect(found.files.map(({ path }) => path)).toEqual(["b", "c"]);
  });

  test("of a table that never rests are given up", async () => {
    server.answer(...Array.from({ length: 5 }, () => [files(["a"], "2"), moved]).flat());
    await expect(client.tables.files("dev", "x.y")).rejects.toMatchObject({
      code: "SNAPSHOT_CHANGED",
    });
    expect(asked()).toHaveLength(10);
  });

  test("with policies that are not applied are the catalog's refusal", async () => {
    server.answer(problem(409, { code: "POLICY_NOT_APPLIED" }));
    await expect(client.tables.files("dev", "x.y")).rejects.toMatchObject({
      code: "POLICY_NOT_APPLIED",
    });
  });
});
