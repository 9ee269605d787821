import type { Fixtures, Target } from "./access-fixtures.ts";
import { tablePath } from "./access-fixtures.ts";
import { ENVIRONMENT, type Subject } from "./access-subjects.ts";
import type { JsonObject } from "./rest.ts";

type Request = readonly [method: string, path: string, body?: unknown];

/** Something that can be asked of Lapse, as the matrix tries it. */
export interface Operation {
  readonly request: (target: Target, by: Subject) => Request;
  /** What a refusal says is missing. */
  readonly right: string;
  /** What a refusal is about: the table, its environment, or what is named here. */
  readonly about: "table" | "environment" | { readonly kind: string };
  /** Which of the shared things it is tried on. */
  readonly on?: keyof Fixtures;
  /** Whether it changes its table, so that everybody who may needs one of their own. */
  readonly changes?: boolean;
  /** For a list: what of it must be there for who sees the table. */
  readonly shows?: (answer: JsonObject, target: Target) => boolean;
}

const V1 = "/api/v1";
const ENV = `${V1}/environments/${ENVIRONMENT}`;
const items = (answer: JsonObject) => answer.items as JsonObject[];
const hasId = (answer: JsonObject, { id }: Target) => items(answer).some((one) => one.id === id);

const onTable = (
  right: string,
  method: string,
  below: string,
  body?: unknown,
  more: Partial<Operation> = {},
): Operation => ({
  right,
  about: "table",
  changes: method !== "GET",
  request: (target) => [method, `${tablePath(target)}${below}`, body],
  ...more,
});
const onEnvironment = (
  right: string,
  method: string,
  below: string,
  body?: unknown,
  more: Partial<Operation> = {},
): Operation => ({
  right,
  about: "environment",
  request: () => [method, `${ENV}${below}`, body],
  ...more,
});
const onTenant = (
  right: string,
  kind: string,
  method: string,
  path: string,
  body?: unknown,
  more: Partial<Operation> = {},
): Operation => ({
  right,
  about: { kind },
  request: () => [method, `${V1}${path}`, body],
  ...more,
});

let made = 0;
/** A name that nothing has yet. */
const fresh = (prefix: string): string => {
  made += 1;
  return `${prefix}${made}`;
};

const activity = (kind: string) => (right: string) =>
  onTable(right, "POST", "", undefined, {
    request: ({ name }) => [
      "POST",
      `${V1}/activity`,
      { kind, environment: ENVIRONMENT, table: `m.${name}` },
    ],
  });
const report = (right: string, body: object) =>
  onTable(right, "POST", "", undefined, {
    request: ({ name }) => ["POST", `/v1/${ENVIRONMENT}/namespaces/m/tables/${name}/metrics`, body],
  });

/** Every row of the matrix, by the name that it has there. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  "get table": onTable("table.read", "GET", ""),
  "get table by id": onTable("table.read", "GET", "", undefined, {
    request: ({ id }) => ["GET", `${V1}/tables/${id}`],
  }),
  "list tables": onEnvironment("table.read", "GET", "/tables?limit=1000", undefined, {
    shows: hasId,
  }),
  "list files": onTable("table.read", "GET", "/files"),
  "list reads": onTable("table.read", "GET", "/reads"),
  "list holds": onTable("table.read", "GET", "/holds"),
  "show retention": onTable("table.read", "GET", "/retention"),
  "list expiring": onEnvironment(
    "table.read",
    "GET",
    "/expiring-tables?within_days=3650&limit=1000",
    undefined,
    { shows: hasId },
  ),
  "create table": onEnvironment("table.create", "POST", "", undefined, {
    about: { kind: "table" },
    request: () => ["POST", `${ENV}/namespaces/made/tables`, { name: fresh("c") }],
  }),
  commit: onTable("table.write", "POST", "/commits", { operation: "append", files: [] }),
  "create hold": onTable("table.write", "POST", "/holds"),
  describe: onTable("table.write", "PATCH", "", { description: "safe to lose" }),
  rename: onTable("table.drop", "PATCH", "", undefined, {
    request: (target) => ["PATCH", tablePath(target), { name: fresh("r") }],
  }),
  "expire sooner": onTable("table.drop", "PUT", "/retention", { days: 3 }),
  "expire later": onTable("table.write", "PUT", "/retention", { days: 300 }),
  "expire never": onTable("table.write", "PUT", "/retention", { never: true }),
  "expire at all": onTable("table.drop", "PUT", "/retention", { days: 300 }, { on: "bare" }),
  drop: onTable("table.drop", "DELETE", ""),
  "list dropped": onEnvironment("table.read", "GET", "/dropped-tables?limit=1000", undefined, {
    on: "gone",
    shows: hasId,
  }),
  undrop: onTable("table.drop", "POST", "/undrop", undefined, { on: "gone" }),
  "report read": activity("read")("table.read"),
  "report write": activity("written")("table.write"),
  "report maintenance": activity("maintained")("table.write"),
  "report scan": report("table.read", {
    "report-type": "scan-report",
    "table-name": "m.t",
    "snapshot-id": 1,
    metrics: {},
  }),
  "report commit": report("table.write", {
    "report-type": "commit-report",
    "table-name": "m.t",
    "snapshot-id": 1,
    operation: "append",
    metrics: {},
  }),
  "show access": onTable("access.manage", "GET", "/access"),
  grant: onTable("access.manage", "POST", "/access/grants", { subject: "zoe", right: "read" }),
  revoke: onTable("access.manage", "DELETE", "/access/grants/g-read/read"),
  "set filter": onTable("access.manage", "PUT", "/access/filters/eu", {
    applies_to: "zoe",
    column: "country",
    operator: "=",
    values: ["DE"],
  }),
  "set mask": onTable("access.manage", "PUT", "/access/masks/country?applies_to=zoe", {
    mask: "hash",
  }),
  "remove filter": onTable("access.manage", "DELETE", "/access/filters/nope"),
  "remove mask": onTable("access.manage", "DELETE", "/access/masks/country"),
  "list environments": onTenant("table.read", "environment", "GET", "/environments", undefined, {
    shows: (answer) => items(answer).some(({ name }) => name === ENVIRONMENT),
  }),
  "get environment": onEnvironment("table.read", "GET", ""),
  "environment retention": onEnvironment("table.read", "GET", "/retention"),
  "set environment retention": onEnvironment("environment.manage", "PUT", "/retention", {
    days: 3000,
  }),
  "clear environment retention": onEnvironment("environment.manage", "PUT", "/retention", {
    days: null,
  }),
  protect: onEnvironment("environment.manage", "PATCH", "", { protected: false }),
  "delete environment": onEnvironment("environment.manage", "DELETE", ""),
  "create environment": onTenant("environment.manage", "environment", "POST", "", undefined, {
    request: () => ["POST", `${V1}/environments`, { name: fresh("e") }],
  }),
  "list namespaces": onEnvironment("table.read", "GET", "/namespaces"),
  "create namespace": onEnvironment("table.create", "POST", "", undefined, {
    request: () => ["POST", `${ENV}/namespaces`, { path: fresh("n") }],
  }),
  "delete namespace": onEnvironment("table.drop", "DELETE", "/namespaces/nope"),
  "list projects": onEnvironment("table.read", "GET", "/projects"),
  "deploy project": onEnvironment("table.drop", "PUT", "/projects/shop", {
    version: "1",
    assets: ["gold.orders"],
  }),
  "undeploy project": onEnvironment("table.drop", "DELETE", "/projects/nope"),
  "list roles": onTenant("access.manage", "tenant", "GET", "/roles"),
  "grant role": onTenant("access.manage", "tenant", "POST", "/roles", {
    subject: "zoe",
    role: "reader",
  }),
  "grant role above all": onTenant("access.manage", "tenant", "POST", "/roles", {
    subject: "zoe",
    role: "superadmin",
  }),
  "grant role here": onTenant("access.manage", "environment", "POST", "/roles", {
    subject: "zoe",
    role: "reader",
    environment: ENVIRONMENT,
  }),
  "revoke role here": onTenant(
    "access.manage",
    "environment",
    "DELETE",
    `/roles?subject=zoe&role=reader&environment=${ENVIRONMENT}`,
  ),
  "list keys": onTenant("access.manage", "tenant", "GET", "/api-keys"),
  "create key": onTenant("access.manage", "api_key", "POST", "/api-keys", {
    name: "reads",
    roles: ["reader"],
  }),
  "revoke key": onTenant("access.manage", "api_key", "DELETE", "", undefined, {
    on: "key",
    request: ({ id }) => ["DELETE", `${V1}/api-keys/${id}`],
  }),
  "list sweeps": onTenant("table.read", "evaluator", "GET", "/sweeps"),
  "run sweep": onTenant("sweep.manage", "evaluator", "POST", "/sweeps", { wait_seconds: 20 }),
  "run sweep dry": onTenant("sweep.manage", "evaluator", "POST", "/sweeps", { dry_run: true }),
  "pause sweeps": onTenant("sweep.manage", "evaluator", "POST", "/sweeps/pause", {
    reason: "test",
  }),
  "resume sweeps": onTenant("sweep.manage", "evaluator", "POST", "/sweeps/resume"),
  "list sweep holds": onTenant("table.read", "evaluator", "GET", "/sweeps/holds"),
  "confirm clock": onTenant("sweep.manage", "evaluator", "POST", "/sweeps/confirm", {
    clock: true,
  }),
  "list decisions": onTenant("audit.read", "audit", "GET", "/audit?limit=1"),
  "verify chain": onTenant("audit.read", "audit", "GET", "/audit/verify"),
  "list parked": onTenant("parked.manage", "parked", "GET", "/parked"),
};

/** The shared table that an operation is tried on. */
export const targetOf = ({ on = "kept" }: Operation, fixtures: Fixtures): Target => fixtures[on];
