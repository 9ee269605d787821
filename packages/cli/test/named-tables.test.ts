import { expect, test } from "@jest/globals";
import { FailedError, UsageError } from "../src/exit.ts";
import { withEngine } from "../src/sql/engine.ts";
import { tablesNamedIn } from "../src/sql/named-tables.ts";

const named = (sql: string) => withEngine((engine) => tablesNamedIn(engine, sql));

test.each<[string, string, string[][]]>([
  ["plainly", "SELECT 1 FROM a.b", [["a", "b"]]],
  ["by an alias", "SELECT x.id FROM a.b AS x", [["a", "b"]]],
  [
    "in a join on a column of both",
    "FROM a.b x JOIN c.d y USING (id)",
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
  [
    "in a subquery",
    "SELECT (SELECT max(x) FROM a.b) FROM c.d WHERE id IN (FROM e.f)",
    [
      ["a", "b"],
      ["c", "d"],
      ["e", "f"],
    ],
  ],
  ["behind a CTE", "WITH q AS (FROM a.b) SELECT * FROM q", [["q"], ["a", "b"]]],
  [
    "in a recursive CTE",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r JOIN a.b USING (n)) FROM r",
    [["r"], ["a", "b"]],
  ],
  [
    "in each arm of a union",
    "FROM a.b UNION ALL FROM c.d",
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
  ["twice", "FROM a.b x, a.b y", [["a", "b"]]],
  [
    "with a deeper namespace",
    'FROM a.b.c, "a.b".c',
    [
      ["a", "b", "c"],
      ["a.b", "c"],
    ],
  ],
  ["in quotes, as data", `FROM "we""ird"."ta.b le'"`, [['we"ird', "ta.b le'"]]],
  ["to be described", "DESCRIBE a.b", [["a", "b"]]],
  ["to be summarised", "SUMMARIZE a.b", [["a", "b"]]],
  [
    "to be explained",
    "EXPLAIN ANALYZE SELECT 1 FROM a.b x JOIN c.d USING (id)",
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
  ["to be pivoted", "PIVOT a.b ON x IN ('1', '2') USING sum(y)", [["a", "b"]]],
  ["in a text, which is no name", "SELECT 'FROM a.b'", []],
  ["as a file", "FROM 'x.csv'", [["x.csv"]]],
])("a table named %s is found", async (_, sql, names) => {
  const found = await named(sql);
  expect(new Set(found.map(String))).toEqual(new Set(names.map(String)));
  expect(found).toHaveLength(names.length);
});

test.each([
  "CREATE TABLE x AS FROM a.b",
  "INSERT INTO a.b SELECT 1",
  "COPY a.b TO 'x'",
  "PIVOT a.b ON x USING sum(y)",
])("%s is no query", async (sql) => {
  await expect(named(sql)).rejects.toThrow(UsageError);
});

test("what cannot be parsed is explained by the engine", async () => {
  await expect(named("selec 1")).rejects.toThrow(FailedError);
  await expect(named("selec 1")).rejects.toThrow(/syntax error/);
});

test("a name of more parts than a query can hold says what to write", async () => {
  await expect(named("FROM a.b.c.d")).rejects.toThrow(/Quote the namespace/);
});
