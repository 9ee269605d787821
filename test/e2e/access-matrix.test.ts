import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { waitFor } from "@lapse/test-kit";
import { type Cell, EXPECTED } from "./access-expected.ts";
import {
  type Fixtures,
  type MakeTable,
  stateOf,
  type Target,
  tableMaker,
  tablePath,
} from "./access-fixtures.ts";
import {
  GRPC_CALLS,
  type GrpcClients,
  grpcClients,
  newTrace,
  outcomeByGrpc,
} from "./access-grpc.ts";
import { OPERATIONS, type Operation, targetOf } from "./access-operations.ts";
import { isAllowed, missingRight, outcomeOf } from "./access-outcome.ts";
import { keyIdOf, type Subject, type SubjectName, subjects, succeed } from "./access-subjects.ts";
import type { JsonObject, Rest } from "./rest.ts";
import { type System, startSystem } from "./system.ts";

/** A call that was refused for want of a right; the audit log must have it. */
interface Refusal {
  readonly operation: string;
  readonly actor: string;
  readonly tenant: string;
  readonly right: string;
  readonly traceId: string;
  readonly resource: JsonObject;
}

let system: System;
let admin: Rest;
let all: { readonly rest: Rest; readonly grpc: GrpcClients };
let who: Readonly<Record<SubjectName, Subject>>;
let makeTable: MakeTable;
let fixtures: Fixtures;
let environmentId: unknown;
/** The state after the last refused calls, while nothing has changed it since. */
let unchanged: JsonObject | undefined;
const refusals: Refusal[] = [];
const grpcRefusals: { name: string; actor: string; traceId: string }[] = [];

beforeAll(async () => {
  system = await startSystem({ LAPSE_RUN__SWEEP_INTERVAL: "3600" });
  admin = system.rest(system.token);
  all = { rest: admin, grpc: grpcClients(system, system.token) };
  who = await subjects(system);
  makeTable = await tableMaker(system);
  const [kept, bare, gone] = await Promise.all([
    makeTable("kept"),
    makeTable("bare"),
    makeTable("gone"),
  ]);
  fixtures = { kept, bare, gone, key: { id: keyIdOf(who.revoked), name: "revoked" } };
  environmentId = (await succeed(admin("GET", "/api/v1/environments/dev"))).body.id;
  // From here on the evaluator knows them, which lists of what expires go by.
  await succeed(admin("GET", `${tablePath(kept)}/retention`));
  await succeed(admin("GET", `${tablePath(bare)}/retention`));
}, 120_000);
afterAll(async () => {
  all?.grpc.close();
  await system?.stop();
}, 60_000);

async function attempt(operation: Operation, by: Subject, target: Target) {
  const [method, path, body] = operation.request(target, by);
  const { traceId, traceparent } = newTrace();
  return { answer: await by.rest(method, path, body, { traceparent }), traceId };
}

/** All refused calls of a row: answered as written, with nothing changed. */
async function tryRefused(name: string, operation: Operation, cells: readonly Cell[]) {
  const before = unchanged ?? (await stateOf(all, fixtures));
  const target = targetOf(operation, fixtures);
  const outcomes = await Promise.all(
    cells.map(async ({ subject, expected }) => {
      const by = who[subject];
      const { answer, traceId } = await attempt(operation, by, target);
      const outcome = outcomeOf({ answer, operation, subject, target, expected });
      const right = missingRight(expected, operation);
      if (outcome === expected && right !== undefined) {
        const tenant = subject === "stranger" ? "other" : "local";
        const resource = resourceOf(operation, target);
        refusals.push({ operation: name, actor: by.actor, tenant, right, resource, traceId });
      }
      return `${subject}: ${outcome}`;
    }),
  );
  expect(outcomes).toEqual(cells.map(({ subject, expected }) => `${subject}: ${expected}`));
  unchanged = await stateOf(all, fixtures);
  expect(unchanged).toEqual(before);
}

/** All allowed calls of a row. What changes its table gets one of its own for each. */
async function tryAllowed(operation: Operation, cells: readonly Cell[]) {
  const [method] = operation.request(fixtures.kept, who.owner);
  if (method !== "GET") unchanged = undefined;
  const outcomes = await Promise.all(
    cells.map(async ({ subject, expected }) => {
      const { on = "kept", changes = false } = operation;
      const target =
        changes && on !== "key" ? await makeTable(on, subject) : targetOf(operation, fixtures);
      const { answer } = await attempt(operation, who[subject], target);
      return `${subject}: ${outcomeOf({ answer, operation, subject, target, expected })}`;
    }),
  );
  expect(outcomes).toEqual(cells.map(({ subject, expected }) => `${subject}: ${expected}`));
}

function resourceOf({ about }: Operation, { id }: Target): JsonObject {
  if (about === "environment") return { kind: "environment", id: environmentId };
  return about === "table" ? { kind: "table", id } : about;
}

describe("T6 T7 T11 who may do what, by REST", () => {
  test.each(EXPECTED)(
    "$operation",
    async ({ operation: name, cells }) => {
      const operation = OPERATIONS[name];
      if (!operation) throw new Error(`nothing is called ${name}`);
      await tryRefused(
        name,
        operation,
        cells.filter(({ expected }) => !isAllowed(expected)),
      );
      await tryAllowed(
        operation,
        cells.filter(({ expected }) => isAllowed(expected)),
      );
    },
    30_000,
  );
});

describe("T6 T7 who may do what, by gRPC", () => {
  test.each(Object.keys(GRPC_CALLS))("%s", async (name) => {
    const [call, answers] = GRPC_CALLS[name] ?? [];
    if (!call || !answers) throw new Error(`nothing is called ${name}`);
    const target = { tableId: fixtures.kept.id, environmentId: String(environmentId) };
    const before = await stateOf(all, fixtures);
    const outcomes: [string, string][] = [];
    for (const subject of Object.keys(answers) as SubjectName[]) {
      const to = grpcClients(system, who[subject].token);
      const { traceId, traceparent } = newTrace();
      const outcome = await outcomeByGrpc(() => call(to, target, { traceparent }));
      to.close();
      outcomes.push([subject, outcome]);
      if (outcome.startsWith("denied ")) {
        grpcRefusals.push({ name, actor: who[subject].actor, traceId });
      }
    }
    expect(Object.fromEntries(outcomes)).toEqual(answers);
    expect(await stateOf(all, fixtures)).toEqual(before);
  });

  test("a person does not act on behalf of another", async () => {
    const to = grpcClients(system, who.nobody.token);
    const principal = { subject: "owner", tenant: "local", roles: [], kind: "person" } as const;
    const outcome = await outcomeByGrpc(() =>
      to.catalog.getTable(
        { table: { ref: { case: "tableId", value: fixtures.kept.id } } },
        { principal },
      ),
    );
    to.close();
    expect(outcome).toBe("denied ON_BEHALF_OF_REFUSED");
  });
});

/** Every decision of a type in the log of a tenant. */
async function decisions(reader: Rest, type: string): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  let cursor = "";
  do {
    const page = await succeed(
      reader("GET", `/api/v1/audit?type=${type}&limit=1000${cursor && `&cursor=${cursor}`}`),
    );
    all.push(...(page.body.items as JsonObject[]));
    cursor = String(page.body.next_cursor ?? "");
  } while (cursor !== "");
  return all;
}

function byTraceId(all: readonly JsonObject[]): Map<unknown, JsonObject[]> {
  const grouped = new Map<unknown, JsonObject[]>();
  for (const one of all) grouped.set(one.trace_id, [...(grouped.get(one.trace_id) ?? []), one]);
  return grouped;
}

describe("T32 the audit log", () => {
  test("has every refusal once, with who, for want of what, on what, and no other", async () => {
    const here = refusals.filter(({ tenant }) => tenant === "local");
    const total = here.length + grpcRefusals.length;
    const byTrace = await waitFor(
      async () => {
        const found = (await decisions(admin, "AUTHORIZATION_DENIED")).filter(
          ({ reason }) => reason === "right_missing",
        );
        return found.length >= total ? byTraceId(found) : undefined;
      },
      { timeoutMs: 20_000, message: `of ${total} refusals some are not in the log` },
    );
    const wanted = here.map(({ operation, actor, right, resource }) => ({
      operation,
      found: [{ actor, resource, tenant: "local", outcome: "refused", details: { right } }],
    }));
    const recorded = here.map(({ operation, traceId }) => ({
      operation,
      found: byTrace.get(traceId),
    }));
    expect(recorded).toMatchObject(wanted);
    expect(
      grpcRefusals.map(({ name, traceId }) => ({ name, found: byTrace.get(traceId) })),
    ).toMatchObject(grpcRefusals.map(({ name, actor }) => ({ name, found: [{ actor }] })));
    const known = new Set([...here, ...grpcRefusals].map(({ traceId }) => traceId));
    const unknown = [...byTrace].filter(([traceId]) => !known.has(String(traceId)));
    expect(unknown).toEqual([]);
  }, 30_000);

  test("has the expired and the revoked key, each once a minute at most", async () => {
    const found = await waitFor(async () => {
      const all = (await decisions(admin, "AUTHORIZATION_DENIED")).filter(({ reason }) =>
        ["key_expired", "key_revoked"].includes(String(reason)),
      );
      return all.length >= 2 ? all : undefined;
    });
    for (const [name, reason] of [
      ["expired", "key_expired"],
      ["revoked", "key_revoked"],
    ] as const) {
      const { actor } = who[name];
      const own = found.filter((one) => one.actor === actor);
      expect(own).toContainEqual(expect.objectContaining({ reason, outcome: "refused" }));
      expect(own.length).toBeLessThanOrEqual(3);
    }
  });

  test("of another tenant says nothing of ours, and ours nothing of theirs", async () => {
    const auditor = system.rest(
      await system.sign({
        subject: "auditor",
        kind: "person",
        tenant: "other",
        roles: ["superadmin"],
      }),
    );
    const types = ["AUTHORIZATION_DENIED", "ROLE_GRANTED", "ENVIRONMENT_CREATED"];
    const theirs = JSON.stringify(await Promise.all(types.map((type) => decisions(auditor, type))));
    const { kept, bare, gone } = fixtures;
    for (const secret of [kept.id, bare.id, gone.id, String(environmentId), `"m.${kept.name}"`]) {
      expect(theirs).not.toContain(secret);
    }
    const ours = await Promise.all(types.map((type) => decisions(admin, type)));
    expect(ours.flat().filter(({ actor }) => actor === who.stranger.actor)).toEqual([]);
  });

  test("has one decision for each effect, and the chain is whole", async () => {
    const { body } = await succeed(admin("GET", "/api/v1/audit/verify"));
    expect(body).toMatchObject({ ok: true, gaps: [] });
  });
});

describe("to another tenant's admin", () => {
  const paths = (table: Target) => [
    `/api/v1/tables/${table.id}`,
    `/api/v1/tables/${table.id}/retention`,
    `/api/v1/tables/${table.id}/access`,
    `/api/v1/tables/${table.id}/files`,
  ];

  test("a table that is there is answered like one that never was", async () => {
    const never = { id: "01890b5e-0000-7000-8000-00000000dead", name: "never" };
    const told = async (path: string, table: Target) => {
      const { status, body } = await who.stranger.rest("GET", path);
      const { trace_id: _, instance: __, ...rest } = body;
      return JSON.parse(JSON.stringify({ status, ...rest }).replaceAll(table.id, "ID")) as object;
    };
    for (const [at, path] of paths(fixtures.kept).entries()) {
      expect(await told(path, fixtures.kept)).toEqual(await told(paths(never)[at] ?? "", never));
    }
  });
});
