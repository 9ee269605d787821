import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import {
  ConfirmTablesDueResponseSchema,
  type TableDueConfirmationSchema,
} from "@lapse/proto/evaluator";
import { evaluatorOver } from "./evaluator.ts";

type Confirmation = MessageInitShape<typeof TableDueConfirmationSchema>;

const at = new Date("2026-01-01T00:00:00.000Z");
const expiry = {
  source: "table",
  rule: { rule: { case: "days" as const, value: 3 } },
  setBy: "ana",
  lastActivityAt: timestampFromDate(at),
  expiresAt: timestampFromDate(at),
};
const seen = { changeVersion: 3n, retentionVersion: 2n, policyVersion: 1n };

async function confirm(confirmation: Partial<Confirmation>) {
  const evaluator = evaluatorOver({
    confirmTablesDue: async () =>
      create(ConfirmTablesDueResponseSchema, {
        confirmations: [{ tableId: "t", due: true, seen, expiry, ...confirmation } as Confirmation],
      }),
  });
  return (await evaluator.confirmTablesDue(["t"])).get("t");
}

describe("evaluatorOver", () => {
  test("gives the rule, its times and the versions it was counted with", async () => {
    expect(await confirm({})).toEqual({
      due: true,
      seen,
      retention: {
        source: "table",
        rule: { kind: "days", days: 3 },
        setBy: "ana",
        lastActivityAt: at,
        expiredAt: at,
      },
    });
    const on = {
      ...expiry,
      source: "environment",
      rule: { rule: { case: "on" as const, value: "2026-01-01" } },
    };
    expect(await confirm({ expiry: on })).toMatchObject({
      retention: { source: "environment", rule: { kind: "on", on: "2026-01-01" } },
    });
  });

  test.each([
    ["no expiry", { expiry: undefined }],
    ["no source", { expiry: { ...expiry, source: "" } }],
    ["no rule", { expiry: { ...expiry, rule: undefined } }],
    [
      "the rule never",
      { expiry: { ...expiry, rule: { rule: { case: "never" as const, value: true } } } },
    ],
    ["no last activity", { expiry: { ...expiry, lastActivityAt: undefined } }],
    ["no expiry time", { expiry: { ...expiry, expiresAt: undefined } }],
  ])(
    "gives no retention from an answer with %s, so that nothing is dropped on it",
    async (_, patch) => {
      expect(await confirm(patch as Partial<Confirmation>)).toMatchObject({
        due: true,
        retention: undefined,
      });
    },
  );

  test("gives versions that match none where the answer has none", async () => {
    expect(await confirm({ seen: undefined } as Partial<Confirmation>)).toMatchObject({
      seen: { changeVersion: 0n },
    });
  });

  test("asks about a thousand tables at a time", async () => {
    const asked: number[] = [];
    const evaluator = evaluatorOver({
      async confirmTablesDue({ tableIds = [] }) {
        asked.push(tableIds.length);
        return create(ConfirmTablesDueResponseSchema, {});
      },
    });
    await evaluator.confirmTablesDue(Array.from({ length: 2_001 }, String));
    expect(asked).toEqual([1_000, 1_000, 1]);
  });
});
