import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Harness, startHarness } from "./harness.ts";
import { OTHER_ID, TABLE_ID } from "./messages.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => harness.reset());
afterAll(() => harness.stop());

const ENV = "/environments/dev";
const BY_NAME = `${ENV}/namespaces/bronze/tables/trial`;
const BY_ID = `/tables/${TABLE_ID}`;
const FILTER = { applies_to: "*", column: "a", operator: "is null" };
const ROLE = { subject: "rita", role: "reader" };

type Method = "POST" | "PUT" | "PATCH" | "DELETE";

/** Each with what the first change behind it is called. */
const WRITES: readonly (readonly [Method, string, unknown, string])[] = [
  ["POST", "/environments", { name: "dev" }, "CreateEnvironment"],
  ["PATCH", ENV, { protected: true }, "UpdateEnvironment"],
  ["DELETE", ENV, undefined, "DeleteEnvironment"],
  ["POST", `${ENV}/namespaces`, { path: "bronze" }, "CreateNamespace"],
  ["DELETE", `${ENV}/namespaces/bronze`, undefined, "DeleteNamespace"],
  ["PUT", `${ENV}/projects/shop`, { version: "1" }, "DeployProject"],
  ["DELETE", `${ENV}/projects/shop`, undefined, "UndeployProject"],
  ["POST", `${ENV}/namespaces/bronze/tables`, { name: "trial" }, "CreateTable"],
  ["POST", `${BY_NAME}/undrop`, {}, "UndropTable"],
  ...[BY_NAME, BY_ID].flatMap(
    (table) =>
      [
        ["PATCH", table, { name: "b" }, "UpdateTable"],
        ["DELETE", table, undefined, "DropTable"],
        ["POST", `${table}/commits`, { operation: "append", files: [] }, "CommitTable"],
        ["POST", `${table}/holds`, {}, "CreateHold"],
        ["POST", `${table}/access/grants`, { subject: "rita", right: "read" }, "GrantTable"],
        ["DELETE", `${table}/access/grants/rita/read`, undefined, "RevokeTable"],
        ["PUT", `${table}/access/filters/f`, FILTER, "SetRowFilter"],
        ["DELETE", `${table}/access/filters/f`, undefined, "RemoveRowFilter"],
        ["PUT", `${table}/access/masks/a`, { mask: "last" }, "SetColumnMask"],
        ["DELETE", `${table}/access/masks/a`, undefined, "RemoveColumnMask"],
      ] as const,
  ),
  ["PUT", `/holds/${OTHER_ID}`, undefined, "RenewHold"],
  ["DELETE", `/holds/${OTHER_ID}`, undefined, "ReleaseHold"],
  ["POST", "/roles", ROLE, "GrantRole"],
  ["DELETE", `/roles?${new URLSearchParams(ROLE)}`, undefined, "RevokeRole"],
  ["POST", "/api-keys", { name: "n" }, "CreateApiKey"],
  ["DELETE", `/api-keys/${OTHER_ID}`, undefined, "RevokeApiKey"],
  ["POST", "/sweeps", {}, "RunSweep"],
  ["POST", "/sweeps/pause", {}, "PauseSweeps"],
  ["POST", "/sweeps/resume", {}, "ResumeSweeps"],
  ["POST", "/sweeps/confirm", { hold_id: OTHER_ID }, "ConfirmSweepHold"],
];

describe.each(WRITES)("%s %s", (method, path, body, change) => {
  test("is one change behind it, for the caller and with the key of the call", async () => {
    // Nothing answers: what matters is what was asked.
    await harness.call(method, `/api/v1${path}`, {
      ...(body !== undefined && { body }),
      headers: { "idempotency-key": "key-1" },
    });
    const [asked] = harness.calls;
    expect(asked?.method.split("/")[1]).toBe(change);
    expect(asked).toMatchObject({
      idempotencyKey: "key-1",
      principal: { subject: "ana@example.org" },
    });
  });
});
