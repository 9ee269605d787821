import type { GrpcClients } from "./access-grpc.ts";
import { ENVIRONMENT, GRANTS, type SubjectName, succeed } from "./access-subjects.ts";
import type { JsonObject, Rest } from "./rest.ts";
import type { System } from "./system.ts";

/** A table that an operation of the matrix is tried on. */
export interface Target {
  readonly id: string;
  readonly name: string;
}

/**
 * What a table of the matrix is when it is made: `kept` has 30 days, `bare` no rule, `gone` is `kept` and dropped.
 * All belong to `owner`, and carry the grants.
 */
type Fixture = "kept" | "bare" | "gone";
/** One of each, which all try; and a key that was revoked. */
export type Fixtures = Readonly<Record<Fixture | "key", Target>>;

const ROOT = "/api/v1";
const IN_ENVIRONMENT = `${ROOT}/environments/${ENVIRONMENT}`;
const TABLES = `${IN_ENVIRONMENT}/namespaces/m/tables`;
export const tablePath = ({ name }: Target): string => `${TABLES}/${name}`;

/** Makes a table; `only` narrows the grants to those of one subject. */
export type MakeTable = (fixture: Fixture, only?: SubjectName) => Promise<Target>;

/** Makes tables for the matrix; each gets a name of its own. */
export async function tableMaker(system: System): Promise<MakeTable> {
  const admin = system.rest(system.token);
  // `owner` has no role when it is tried; it has made its tables while it had one.
  const former = { subject: "owner", kind: "person", tenant: "local" } as const;
  const owner = system.rest(await system.sign({ ...former, roles: ["data_engineer"] }));
  let made = 0;
  return async (fixture, only) => {
    made += 1;
    const name = `t${made}`;
    const { body } = await succeed(
      owner("POST", TABLES, {
        name,
        columns: [{ name: "country", type: "VARCHAR" }],
        ...(fixture !== "bare" && { expire_after_days: 30 }),
      }),
    );
    const target = { name, id: String(body.id) };
    await Promise.all(
      GRANTS.filter(([subject]) => (only ?? subject) === subject).map(([subject, right]) =>
        succeed(admin("POST", `${tablePath(target)}/access/grants`, { subject, right })),
      ),
    );
    if (fixture === "gone") await succeed(admin("DELETE", tablePath(target)));
    return target;
  };
}

/** Everything that a refused call might have changed, as a superadmin sees it. */
export async function stateOf(
  { rest, grpc }: { readonly rest: Rest; readonly grpc: GrpcClients },
  { kept, bare, gone }: Fixtures,
): Promise<JsonObject> {
  const byId = (table: Target, below = "") => `${ROOT}/tables/${table.id}${below}`;
  const paths = [
    ...[kept, bare, gone].flatMap((table) => [byId(table), byId(table, "/access")]),
    ...[kept, bare].flatMap((table) => [byId(table, "/retention"), byId(table, "/holds")]),
    `${ROOT}/environments`,
    `${IN_ENVIRONMENT}/namespaces`,
    `${IN_ENVIRONMENT}/projects`,
    `${ROOT}/roles?limit=1000`,
    `${ROOT}/api-keys?limit=1000`,
    `${ROOT}/sweeps?limit=1000`,
  ];
  const answers = paths.map(async (path) => [path, (await succeed(rest("GET", path))).body]);
  // Not by REST, which would wait until it can say when each of them expires.
  const where = { environment: { ref: { case: "name", value: ENVIRONMENT } } } as const;
  const lists = [
    grpc.catalog.listTables({ ...where, limit: 1_000 }),
    grpc.catalog.listDroppedTables({ ...where, limit: 1_000 }),
  ].map(async (list) =>
    (await list).tables.map(({ tableId, namespace, name, changeVersion }) => [
      ...[tableId, namespace, name, String(changeVersion)],
    ]),
  );
  return withoutUse({
    rest: Object.fromEntries(await Promise.all(answers)) as JsonObject,
    tables: await Promise.all(lists),
  });
}

/** Without when each key was last used: being refused is use. */
function withoutUse(state: JsonObject): JsonObject {
  const plain = JSON.stringify(state, (key, value: unknown) =>
    key === "last_used_at" ? undefined : value,
  );
  return JSON.parse(plain) as JsonObject;
}
