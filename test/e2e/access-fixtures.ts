import { ENVIRONMENT, GRANTS, succeed } from "./access-subjects.ts";
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
export type Fixture = "kept" | "bare" | "gone";
export type Fixtures = Readonly<Record<Fixture, Target>>;

const ROOT = "/api/v1";
const IN_ENVIRONMENT = `${ROOT}/environments/${ENVIRONMENT}`;
const TABLES = `${IN_ENVIRONMENT}/namespaces/m/tables`;
export const tablePath = ({ name }: Target): string => `${TABLES}/${name}`;

/** Makes tables for the matrix; each gets a name of its own. */
export async function tableMaker(system: System): Promise<(fixture: Fixture) => Promise<Target>> {
  const admin = system.rest(system.token);
  // `owner` has no role when it is tried; it has made its tables while it had one.
  const former = { subject: "owner", kind: "person", tenant: "local" } as const;
  const owner = system.rest(await system.sign({ ...former, roles: ["data_engineer"] }));
  let made = 0;
  return async (fixture) => {
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
      GRANTS.map(([subject, right]) =>
        succeed(admin("POST", `${tablePath(target)}/access/grants`, { subject, right })),
      ),
    );
    if (fixture === "gone") await succeed(admin("DELETE", tablePath(target)));
    return target;
  };
}

/** Everything that a refused call might have changed, as a superadmin sees it. */
export async function stateOf(admin: Rest, { kept, bare, gone }: Fixtures): Promise<JsonObject> {
  const asked = {
    ...Object.fromEntries(
      [kept, bare, gone].flatMap((table) => [
        [`${table.name}`, `${ROOT}/tables/${table.id}`],
        [`access of ${table.name}`, `${ROOT}/tables/${table.id}/access`],
      ]),
    ),
    "retention of kept": `${tablePath(kept)}/retention`,
    "retention of bare": `${tablePath(bare)}/retention`,
    "holds of kept": `${tablePath(kept)}/holds`,
    environments: `${ROOT}/environments`,
    tables: `${IN_ENVIRONMENT}/tables?limit=1000`,
    "dropped tables": `${IN_ENVIRONMENT}/dropped-tables?limit=1000`,
    namespaces: `${IN_ENVIRONMENT}/namespaces`,
    projects: `${IN_ENVIRONMENT}/projects`,
    roles: `${ROOT}/roles?limit=1000`,
    keys: `${ROOT}/api-keys?limit=1000`,
    sweeps: `${ROOT}/sweeps?limit=1000`,
  };
  const seen = await Promise.all(
    Object.entries(asked).map(async ([what, path]) => {
      const { body } = await succeed(admin("GET", path));
      return [what, body] as const;
    }),
  );
  return withoutUse(Object.fromEntries(seen));
}

/** Without when each key was last used: being refused is use. */
function withoutUse(state: JsonObject): JsonObject {
  const plain = JSON.stringify(state, (key, value: unknown) =>
    key === "last_used_at" ? undefined : value,
  );
  return JSON.parse(plain) as JsonObject;
}
