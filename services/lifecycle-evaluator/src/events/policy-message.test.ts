import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import type { Delivery } from "@lapse/kit";
import {
  EnvironmentRetentionClearedSchema,
  EnvironmentRetentionSetSchema,
  TableRetentionClearedSchema,
  TableRetentionSetSchema,
  type TableRuleSchema,
} from "@lapse/proto/events";
import { readPolicyMessage } from "./policy-message.ts";

const ID = "0190a000-0000-7000-8000-00000000000a";
const SET_AT = new Date("2026-01-01T00:00:00.000Z");
const set = { setBy: "ana", setAt: timestampFromDate(SET_AT) };

function read<Desc extends DescMessage>(
  subject: string,
  schema: Desc,
  init: MessageInitShape<Desc>,
) {
  const message = create(schema, init);
  // Only what reading uses of a delivery.
  const delivery = {
    subject,
    event: { sequence: 5n },
    decode: () => message,
  } as unknown as Delivery;
  return readPolicyMessage(delivery);
}
type Rule = NonNullable<MessageInitShape<typeof TableRuleSchema>["rule"]>;
const readRule = (rule: Rule) =>
  read("policy.table.set", TableRetentionSetSchema, {
    tableId: ID,
    rule: { rule },
    retentionVersion: 3n,
    ...set,
  });

describe("readPolicyMessage", () => {
  test.each<[Rule, object]>([
    [
      { case: "days", value: 30 },
      { kind: "days", days: 30 },
    ],
    [
      { case: "on", value: "2026-12-31" },
      { kind: "on", on: "2026-12-31" },
    ],
    [{ case: "never", value: true }, { kind: "never" }],
  ])("T4 gives a table's rule %j", (rule, expected) => {
    expect(readRule(rule)).toEqual({
      table: {
        tableId: ID,
        version: 3n,
        sequence: 5n,
        rule: { ...expected, setBy: "ana", setAt: SET_AT },
      },
    });
  });

  test("T7 gives an environment's rule", () => {
    const init = { environmentId: ID, days: 30, policyVersion: 5n, ...set };
    expect(read("policy.environment.set", EnvironmentRetentionSetSchema, init)).toEqual({
      environment: {
        environmentId: ID,
        version: 5n,
        rule: { days: 30, setBy: "ana", setAt: SET_AT },
      },
    });
  });

  test("the absence of a rule has a version too", () => {
    expect(
      read("policy.table.cleared", TableRetentionClearedSchema, {
        tableId: ID,
        retentionVersion: 9n,
      }),
    ).toEqual({ table: { tableId: ID, version: 9n, sequence: 5n, rule: null } });
    expect(
      read("policy.environment.cleared", EnvironmentRetentionClearedSchema, {
        environmentId: ID,
        policyVersion: 9n,
      }),
    ).toEqual({ environment: { environmentId: ID, version: 9n, rule: null } });
  });

  test("the rules of buckets and entities are passed over", () => {
    expect(read("policy.bucket.set", TableRetentionSetSchema, {})).toBeNull();
  });

  test.each<Rule | { case: undefined }>([
    { case: "days", value: 0 },
    { case: "days", value: 3_651 },
    { case: "days", value: -1 },
    { case: "on", value: "2026-02-30" },
    { case: "on", value: "0000-01-01" },
    { case: "on", value: "tomorrow" },
    { case: undefined },
  ])("T10 a damaged rule %j must not become an early expiry: the event cannot be used", (rule) => {
    expect(() => readRule(rule as Rule)).toThrow(
      expect.objectContaining({ kind: "invalid", reason: "EVENT_UNUSABLE" }),
    );
  });
});
