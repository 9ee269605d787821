import { describe, expect, test } from "@jest/globals";
import { type Answers, cli, refusal, status } from "./cli.ts";

const ENV = "/api/v1/environments/dev";
const TABLE = `${ENV}/namespaces/bronze/tables/trial`;
const AT = "2026-11-30T12:00:00.000Z";

const table = {
  id: "t1",
  environment: "dev",
  namespace: "bronze",
  name: "trial",
  full_name: "bronze.trial",
  kind: "managed",
  state: "live",
  owner: "ana",
  description: "",
  columns: [{ name: "id", type: "BIGINT", required: true }],
  location: "file:///x",
  row_count: 3,
  byte_size: 2048,
  file_count: 1,
  version: 7,
  created_at: AT,
  last_changed_at: AT,
  restored_at: null,
  expires_at: null,
  expires_soon: false,
  expiry_unknown: false,
  asset_of: null,
  rights: ["table.read", "table.write"],
};
const environment = {
  id: "e1",
  name: "dev",
  protected: false,
  retention_days: null,
  retention_set_by: null,
  retention_set_at: null,
  retention_unknown: false,
  table_bucket: "b",
  created_by: "ana",
  created_at: AT,
  rights: ["environment.manage"],
};
const access = {
  table_id: "t1",
  owner: "ana",
  applies: true,
  grants: [{ subject: "bob", right: "read", granted_by: "ana", granted_at: AT }],
  row_filters: [
    {
      name: "eu",
      column: "country",
      operator: "in",
      values: ["DE", "FR"],
      applies_to: "*",
      set_by: "ana",
      set_at: AT,
    },
  ],
  column_masks: [
    { column: "email", mask: "hash", applies_to: "role:reader", set_by: "ana", set_at: AT },
  ],
};
const role = {
  subject: "bob",
  role: "writer",
  environment: "dev",
  granted_by: "ana",
  granted_at: AT,
};
const key = {
  id: "k1",
  name: "nightly",
  subject: "key:k1",
  roles: ["reader"],
  created_by: "ana",
  created_at: AT,
  expires_at: "2999-01-01T00:00:00.000Z",
  revoked_at: null,
  revoked_by: null,
  last_used_at: null,
};
const hold = {
  id: "h1",
  kind: "breaker",
  environment: "dev",
  raised_at: AT,
  due: 15,
  tables: 20,
  share: 0.5,
  last_seen_at: null,
  now: null,
  confirmed_by: null,
  confirmed_at: null,
};
const project = {
  name: "shop",
  environment: "dev",
  version: "1.4.0",
  assets: ["gold.orders"],
  deployed_by: "ana",
  deployed_at: AT,
};
const page = (...items: unknown[]) => ({ items, next_cursor: null });

/** Arguments, what is asked of the gateway for them, what it answers, and what is said about it. */
type Case = readonly [args: string, asked: string, answer: unknown, said: RegExp];

const CASES: readonly Case[] = [
  ["env delete dev --yes", `DELETE ${ENV}`, status(204), /dev is deleted/],
  ["env get dev", `GET ${ENV}`, environment, /you may\s+environment\.manage/],
  ["env protect dev", `PATCH ${ENV} {"protected":true}`, environment, /never expire/],
  ["env unprotect dev", `PATCH ${ENV} {"protected":false}`, environment, /expire again/],
  [
    "env role grant dev bob writer",
    `POST /api/v1/roles {"subject":"bob","role":"writer","environment":"dev"}`,
    role,
    /bob is writer in dev/,
  ],
  [
    "env role revoke dev bob writer --yes",
    "DELETE /api/v1/roles?subject=bob&role=writer&environment=dev",
    status(204),
    /no more/,
  ],
  [
    "env role list dev",
    "GET /api/v1/roles?environment=dev&limit=500",
    page(role),
    /bob\s+writer\s+dev\s+ana/,
  ],
  [
    "role grant bob admin",
    `POST /api/v1/roles {"subject":"bob","role":"admin"}`,
    { ...role, environment: null },
    /bob is admin everywhere/,
  ],
  [
    "role revoke bob admin --yes",
    "DELETE /api/v1/roles?subject=bob&role=admin",
    status(204),
    /no more/,
  ],
  [
    "role list --subject bob",
    "GET /api/v1/roles?subject=bob&limit=500",
    page({ ...role, environment: null }),
    /everywhere/,
  ],
  ["role list", "GET /api/v1/roles?limit=500", page(), /No roles are given/],
  [
    "key create nightly --role reader --role writer --days 30",
    `POST /api/v1/api-keys {"name":"nightly","roles":["reader","writer"],"expires_in_days":30}`,
    { ...key, token: "lapse_secret" },
    /lapse_secret[\s\S]*shown this once/,
  ],
  ["key list", "GET /api/v1/api-keys?limit=500", page(key), /nightly\s+until 2999/],
  ["key revoke k1 --yes", "DELETE /api/v1/api-keys/k1", { ...key, revoked_at: AT }, /revoked/],
  [
    "namespace create bronze.raw",
    `POST ${ENV}/namespaces {"path":"bronze.raw"}`,
    { environment: "dev", path: "bronze.raw", created_by: "ana", created_at: AT },
    /Created namespace bronze\.raw/,
  ],
  [
    "namespace list",
    `GET ${ENV}/namespaces?limit=500`,
    page({ environment: "dev", path: "bronze", created_by: "ana", created_at: AT }),
    /bronze\s+ana/,
  ],
  [
    "namespace delete bronze.raw --yes",
    `DELETE ${ENV}/namespaces/bronze.raw`,
    status(204),
    /deleted/,
  ],
  [
    "project deploy shop 1.4.0 --asset gold.orders --asset gold.items",
    `PUT ${ENV}/projects/shop {"version":"1.4.0","assets":["gold.orders","gold.items"]}`,
    project,
    /shop 1\.4\.0 is current in dev and keeps 1 table/,
  ],
  [
    "project deploy shop 1.4.0",
    `PUT ${ENV}/projects/shop {"version":"1.4.0"}`,
    project,
    /is current/,
  ],
  ["project undeploy shop --yes", `DELETE ${ENV}/projects/shop`, status(204), /no longer deployed/],
  ["project list", `GET ${ENV}/projects?limit=500`, page(project), /shop\s+1\.4\.0\s+1 table/],
  [
    "table get bronze.trial",
    `GET ${TABLE}`,
    { ...table, asset_of: "shop 1.4.0" },
    /kept by\s+project shop 1\.4\.0/,
  ],
  ["table describe bronze.trial text", `PATCH ${TABLE} {"description":"text"}`, table, /Described/],
  [
    "table rename bronze.trial silver.new",
    `PATCH ${TABLE} {"namespace":"silver","name":"new"}`,
    { ...table, full_name: "silver.new" },
    /bronze\.trial is silver\.new now/,
  ],
  [
    "table drop bronze.trial",
    `DELETE ${TABLE}`,
    { ...table, undo_until: "2999-01-01T00:00:00.000Z" },
    /until 2999.*lapse table undrop bronze\.trial/,
  ],
  ["table dropped", `GET ${ENV}/dropped-tables?limit=500`, page(), /no dropped tables/],
  [
    "table dropped bronze.trial",
    `GET ${ENV}/dropped-tables?name=bronze.trial&limit=500`,
    page(
      { ...table, state: "dropped", dropped_at: AT, drop_reason: "retention", undo_until: AT },
      { ...table, id: "t0", state: "purging", dropped_at: AT },
    ),
    /retention[\s\S]*t1[\s\S]*no more: its files are being deleted[\s\S]*t0/,
  ],
  [
    "table undrop bronze.trial --id t0 --as back",
    `POST ${TABLE}/undrop {"id":"t0","as":"back"}`,
    table,
    /Brought back bronze\.trial with 3 rows/,
  ],
  [
    "table files bronze.trial --applies-policies",
    `GET ${TABLE}/files?limit=10000&applies_policies=true`,
    {
      snapshot_id: "s",
      files: [{ path: "a", uri: "file:///a", byte_size: 5, row_count: 3 }],
      next_cursor: null,
      row_filters: [{ column: "country", operator: "=", values: ["DE"] }],
      column_masks: [{ column: "email", mask: "hash" }],
      table,
    },
    /a\s+3\s+5 B\s+file:\/\/\/a[\s\S]*rows where country = DE; column email shown as hash/,
  ],
  [
    "table reads bronze.trial",
    `GET ${TABLE}/reads`,
    {
      days: [{ day: "2026-11-30", source: "trino", reads: 12 }],
      sources: [{ source: "trino", last_reported_at: AT }],
    },
    /trino[\s\S]*2026-11-30\s+trino\s+12/,
  ],
  [
    "table reads bronze.trial",
    `GET ${TABLE}/reads`,
    { days: [], sources: [] },
    /Nobody has reported a read/,
  ],
  [
    "table hold list bronze.trial",
    `GET ${TABLE}/holds?limit=500`,
    page({ id: "h", table_id: "t1", kind: "write", holder: "ana", created_at: AT, expires_at: AT }),
    /write\s+ana/,
  ],
  [
    "table access bronze.trial",
    `GET ${TABLE}/access`,
    access,
    /bob\s+read[\s\S]*eu\s+country in \(DE, FR\)[\s\S]*email\s+hash\s+role:reader/,
  ],
  [
    "table grant bronze.trial bob write",
    `POST ${TABLE}/access/grants {"subject":"bob","right":"write"}`,
    access,
    /bob may write bronze\.trial/,
  ],
  [
    "table revoke bronze.trial bob write --yes",
    `DELETE ${TABLE}/access/grants/bob/write`,
    access,
    /no more/,
  ],
  [
    "table filter set bronze.trial eu --column country --operator in --value DE --value FR --for role:reader",
    `PUT ${TABLE}/access/filters/eu {"column":"country","operator":"in","values":["DE","FR"],"applies_to":"role:reader"}`,
    access,
    /Row filter eu is set/,
  ],
  [
    "table filter clear bronze.trial eu --yes",
    `DELETE ${TABLE}/access/filters/eu`,
    access,
    /removed/,
  ],
  [
    "table mask set bronze.trial email --mask hash",
    `PUT ${TABLE}/access/masks/email?applies_to=* {"mask":"hash"}`,
    access,
    /shown as hash to \*/,
  ],
  [
    "table mask clear bronze.trial email --for role:reader --yes",
    `DELETE ${TABLE}/access/masks/email?applies_to=role%3Areader`,
    access,
    /removed/,
  ],
  [
    "sweep holds",
    "GET /api/v1/sweeps/holds?limit=500",
    page(hold),
    /breaker\s+dev\s+15 of 20 tables are due, more than 50 %[\s\S]*lapse sweep confirm h1/,
  ],
  [
    "sweep holds --all",
    "GET /api/v1/sweeps/holds?all=true&limit=500",
    page({ ...hold, confirmed_by: "bob", confirmed_at: AT }),
    /confirmed by bob/,
  ],
  [
    "sweep holds",
    "GET /api/v1/sweeps/holds?limit=500",
    page({
      ...hold,
      kind: "clock",
      environment: null,
      last_seen_at: "2026-11-30T12:00:00Z",
      now: "2026-12-02T12:00:00Z",
    }),
    /clock\s+everything\s+the database's clock went from 2026-11-30 12:00:00Z to 2026-12-02 12:00:00Z \(2 d ahead\)/,
  ],
  ["sweep holds", "GET /api/v1/sweeps/holds?limit=500", page(), /Nothing is held back/],
  [
    "sweep confirm h1",
    `POST /api/v1/sweeps/confirm {"hold_id":"h1"}`,
    { holds: [hold], purges: false },
    /Confirmed: environment dev/,
  ],
  [
    "sweep confirm --environment dev",
    `POST /api/v1/sweeps/confirm {"environment":"dev"}`,
    { holds: [], purges: false },
    /Nothing was held back/,
  ],
  [
    "sweep confirm --clock",
    `POST /api/v1/sweeps/confirm {"clock":true}`,
    { holds: [{ ...hold, kind: "clock", environment: null }], purges: true },
    /the clock, purges/,
  ],
  [
    "sweep run --dry-run",
    `POST /api/v1/sweeps {"dry_run":true,"wait_seconds":60}`,
    { sweep: null, would_drop: [], held: [{ ...hold, id: null }] },
    /Nothing would be dropped[\s\S]*Held back[\s\S]*15 of 20.*would hold/,
  ],
  ["sweep pause --reason why", `POST /api/v1/sweeps/pause {"reason":"why"}`, status(204), /paused/],
  ["sweep resume", "POST /api/v1/sweeps/resume {}", status(204), /run again/],
  ["ops parked discard p1 --yes", "DELETE /api/v1/parked/p1", status(204), /Discarded/],
  ["ops parked retry p1", "POST /api/v1/parked/p1/retry {}", status(204), /Sent p1 again/],
];

const answering = (asked: string, answer: unknown): Answers => ({
  [asked.split(" ").slice(0, 2).join(" ")]: answer,
});

describe("lapse", () => {
  test.each(CASES)("%s asks %s", async (args, asked, answer, said) => {
    const ran = await cli(args.split(" "), answering(asked, answer));
    expect(ran).toMatchObject({ code: 0, asked: [asked], stderr: "" });
    expect(ran.stdout).toMatch(said);
  });

  test.each(CASES)("%s --json prints JSON and nothing else", async (args, asked, answer) => {
    const ran = await cli([...args.split(" "), "--json"], answering(asked, answer));
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    const printed: unknown = JSON.parse(ran.stdout);
    expect(typeof printed).toBe("object");
  });

  test("--json prints what the gateway answered, times included", async () => {
    const ran = await cli(["table", "get", "bronze.trial", "--json"], { [`GET ${TABLE}`]: table });
    expect(JSON.parse(ran.stdout)).toEqual(table);
  });

  test("--env names the environment", async () => {
    const { asked } = await cli(["namespace", "list", "--env", "lab"], {});
    expect(asked).toEqual(["GET /api/v1/environments/lab/namespaces?limit=500"]);
  });
});

describe("what is destructive", () => {
  test.each([
    ["env delete dev", /dev, with its namespaces.*deleted/],
    ["env role revoke dev bob writer", /bob loses the role writer in dev/],
    ["env retention dev --days 3", /will expire 3 days/],
    ["role revoke bob admin", /bob loses the role admin everywhere/],
    ["key revoke k1", /k1 is refused/],
    ["namespace delete bronze", /bronze of dev is deleted/],
    ["project undeploy shop", /can expire again/],
    ["table revoke bronze.trial bob read", /bob loses the grant/],
    ["table filter clear bronze.trial eu", /can be seen/],
    ["table mask clear bronze.trial email", /can be seen by \*/],
    ["ops parked discard p1", /for good/],
  ])("%s is not done without --yes where nobody can be asked", async (args, consequence) => {
    const ran = await cli(args.split(" "));
    expect(ran).toMatchObject({ code: 2, asked: [], stdout: "" });
    expect(ran.stderr).toMatch(consequence);
    expect(ran.stderr).toMatch(/--yes/);
  });
});

describe("what is wrong in a call is said before anything is asked", () => {
  test.each([
    ["table rename bronze.trial new", /bronze\.new/],
    ["table rename trial silver.new", /namespace/],
    ["table grant bronze.trial bob own", /read, write, drop/],
    ["table filter set bronze.trial eu --column c --operator like --value x", /choices/],
    ["table filter set bronze.trial eu --column c --operator =", /exactly one --value/],
    ["table filter set bronze.trial eu --column c --operator in", /needs --value/],
    ["table filter set bronze.trial eu --operator = --value x", /--column/],
    ["table mask set bronze.trial email", /--mask/],
    ["table mask set bronze.trial email --mask rot13", /choices/],
    ["role grant bob king", /choices/],
    ["key create ci --role king", /data_engineer/],
    ["key create ci --days 366", /1 to 365/],
    ["sweep confirm", /exactly one/],
    ["sweep confirm h1 --clock", /exactly one/],
    ["project deploy shop 1 --asset a.b --assets-file x", /not both/],
    ["project deploy shop 1 --assets-file /nope/nope", /cannot be read/],
    ["audit list --since yesterday", /offset/],
    ["audit list --since 2026-11-30T00:00:00", /offset/],
    ["table retention bronze.trial --days 3 --never", /exactly one/],
    ["sql SELECT_1 --into a.b --mode append --expire-after 3", /table retention/],
    ["nonsense", /unknown command/],
  ])("lapse %s", async (args, message) => {
    const ran = await cli(args.split(" "));
    expect(ran).toMatchObject({ code: 2, asked: [], stdout: "" });
    expect(ran.stderr).toMatch(message);
  });
});

describe("a refusal", () => {
  const get = `GET ${TABLE}`;
  test.each([
    [401, "TOKEN_EXPIRED", 3],
    [403, "RIGHT_MISSING", 3],
    [404, "TABLE_NOT_FOUND", 4],
    [409, "TABLE_DROPPED", 3],
    [400, "REQUEST_INVALID", 2],
    [500, "INTERNAL", 1],
  ])("of status %i (%s) ends with code %i and says what to do", async (code, reason, exit) => {
    const answer = refusal(code, reason, "Do this instead.");
    const ran = await cli(["table", "get", "bronze.trial"], { [get]: answer });
    expect(ran).toMatchObject({ code: exit, stdout: "" });
    expect(ran.stderr).toContain("Do this instead.");
    expect(ran.stderr).toContain(reason);
  });

  test("tells every fault of several, and is JSON with --json", async () => {
    const errors = [
      { pointer: "#/a", detail: "is wrong" },
      { pointer: "#/b", detail: "too" },
    ];
    const answers = { [get]: refusal(400, "REQUEST_INVALID", "Not valid.", { errors }) };
    const said = await cli(["table", "get", "bronze.trial"], answers);
    expect(said.stderr).toMatch(/#\/a: is wrong[\s\S]*#\/b: too/);
    const json = await cli(["table", "get", "bronze.trial", "--json"], answers);
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: "REQUEST_INVALID", errors } });
  });
});

test("completion knows every command and option", async () => {
  const { code, stdout } = await cli(["completion", "bash"]);
  expect(code).toBe(0);
  for (const words of [
    /"lapse"\).*\benv namespace project table sql sweep role key audit\b/,
    /"lapse table filter"\).*\bset clear\b/,
    /"lapse table mask set"\).*--mask.*--for/,
    /"lapse env role"\).*\bgrant revoke list\b/,
    /"lapse sweep confirm"\).*--environment --clock/,
  ]) {
    expect(stdout).toMatch(words);
  }
});
