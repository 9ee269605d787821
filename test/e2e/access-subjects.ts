import { createLogger, createPool } from "@lapse/kit";
import type { Rest } from "./rest.ts";
import type { System } from "./system.ts";

/** Who calls, in the order of the matrix's columns; what each is, {@link subjects} makes true. */
export const SUBJECTS = [
  "owner",
  "reader",
  "writer",
  "engineer",
  "admin",
  "super",
  "key",
  "g-read",
  "g-write",
  "g-drop",
  "e-writer",
  "e-admin",
  "elsewhere",
  "nobody",
  "stranger",
  "expired",
  "revoked",
] as const;
export type SubjectName = (typeof SUBJECTS)[number];

export interface Subject {
  readonly name: SubjectName;
  /** As the audit log names it. */
  readonly actor: string;
  readonly rest: Rest;
  readonly token: string;
}

/** Environment in which `e-writer` and `e-admin` have their roles; `elsewhere` is an admin of the other one. */
export const ENVIRONMENT = "dev";
const OTHER_ENVIRONMENT = "lab";

/** The roles in the tokens of those that have one. */
const TOKEN_ROLES = {
  owner: [],
  reader: ["reader"],
  writer: ["writer"],
  engineer: ["data_engineer"],
  admin: ["admin"],
  super: ["superadmin"],
  "g-read": [],
  "g-write": [],
  "g-drop": [],
  "e-writer": [],
  "e-admin": [],
  elsewhere: [],
  nobody: [],
  stranger: ["admin"],
} as const;

/** Keys: a good one, one whose day has come, and one that was revoked. */
const KEYS = { key: ["writer"], expired: ["admin"], revoked: ["admin"] } as const;

/** What is granted on every table of the matrix. */
export const GRANTS = [
  ["g-read", "read"],
  ["g-write", "write"],
  ["g-drop", "drop"],
] as const;

/** Makes every subject what its name says; tables and their grants come after. */
export async function subjects(system: System): Promise<Readonly<Record<SubjectName, Subject>>> {
  const admin = system.rest(system.token);
  const made: Partial<Record<SubjectName, Subject>> = {};
  for (const [name, roles] of entries(TOKEN_ROLES)) {
    const tenant = name === "stranger" ? "other" : "local";
    const token = await system.sign({ subject: name, kind: "person", tenant, roles });
    made[name] = { name, actor: name, token, rest: system.rest(token) };
  }
  for (const [name, roles] of entries(KEYS)) {
    const { body } = await admin("POST", "/api/v1/api-keys", { name, roles, expires_in_days: 1 });
    const { subject: actor, token } = body as { subject: string; token: string };
    made[name] = { name, actor, token, rest: system.rest(token) };
  }
  for (const environment of [ENVIRONMENT, OTHER_ENVIRONMENT]) {
    await succeed(admin("POST", "/api/v1/environments", { name: environment }));
  }
  const bindings = [
    ["e-writer", "writer", ENVIRONMENT],
    ["e-admin", "admin", ENVIRONMENT],
    ["elsewhere", "admin", OTHER_ENVIRONMENT],
  ];
  for (const [subject, role, environment] of bindings) {
    await succeed(admin("POST", "/api/v1/roles", { subject, role, environment }));
  }
  const { expired, revoked } = made;
  if (!expired || !revoked) throw new Error("the keys were not made");
  await succeed(admin("DELETE", `/api/v1/api-keys/${keyIdOf(revoked)}`));
  await letExpire(system, keyIdOf(expired));
  return made as Record<SubjectName, Subject>;
}

export const keyIdOf = ({ actor }: Subject): string => actor.replace(/^key:/, "");

/** A key lives a day at least, so its time is moved into the past behind the catalog's back. */
async function letExpire(system: System, keyId: string): Promise<void> {
  const pool = createPool({
    url: await system.databaseUrl("lapse_catalog"),
    size: 1,
    applicationName: "test",
    log: createLogger({ service: "test", level: "silent" }),
  });
  try {
    const { rowCount } = await pool.query(
      `update api_key set created_at = created_at - interval '2 days', expires_at = now() - interval '1 day'
       where key_id = $1`,
      [keyId],
    );
    if (rowCount !== 1) throw new Error(`there is no key ${keyId}`);
  } finally {
    await pool.end();
  }
}

/** The answer, which must be none of a failure. */
export async function succeed(answer: ReturnType<Rest>): ReturnType<Rest> {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`a preparation failed: ${status} ${JSON.stringify(body)}`);
  return answer;
}

const entries = <K extends string, V>(record: Readonly<Record<K, V>>) =>
  Object.entries(record) as [K, V][];
