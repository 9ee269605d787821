import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  aConfirmation,
  aDrop,
  aDue,
  aHold,
  anEnvironment,
  anExpiredRetention,
  aTable,
  daysBefore,
  NOW,
} from "../../test/builders.ts";
import { type DueFacts, decideDue, KEPT_REASONS } from "./due.ts";

const later = (ms: number) => new Date(NOW.getTime() + ms);

const facts = (patch: Partial<DueFacts> = {}): DueFacts => ({
  due: aDue(),
  confirmation: aConfirmation(),
  table: aTable(),
  environment: anEnvironment(),
  holds: [],
  now: NOW,
  ...patch,
});

/** Each row changes one fact of a table that is otherwise dropped, so the guard alone makes the difference. */
const KEPT: [string, string, Partial<DueFacts>][] = [
  ["stale", "the event is older than a minute", { due: aDue({ issuedAt: later(-60_001) }) }],
  ["stale", "the event is from a clock far ahead", { due: aDue({ issuedAt: later(60_001) }) }],
  ["unconfirmed", "the evaluator left it out", { confirmation: undefined }],
  [
    "unconfirmed",
    "the evaluator gave no times",
    { confirmation: aConfirmation({ retention: undefined }) },
  ],
  [
    "unconfirmed",
    "the evaluator had seen an older change",
    {
      confirmation: aConfirmation({
        seen: { changeVersion: 6n, retentionVersion: 5n, policyVersion: 3n },
      }),
    },
  ],
  [
    "unconfirmed",
    "the evaluator held an older rule",
    {
      confirmation: aConfirmation({
        seen: { changeVersion: 7n, retentionVersion: 4n, policyVersion: 3n },
      }),
    },
  ],
  [
    "unconfirmed",
    "the evaluator held an older rule of the environment",
    {
      confirmation: aConfirmation({
        seen: { changeVersion: 7n, retentionVersion: 5n, policyVersion: 2n },
      }),
    },
  ],
  ["not_due", "the evaluator says so", { confirmation: aConfirmation({ due: false }) }],
  [
    "not_due",
    "it expires later by the catalog's clock",
    { confirmation: aConfirmation({ retention: anExpiredRetention({ expiredAt: later(1) }) }) },
  ],
  ["unknown_table", "there is no such row", { table: undefined, environment: undefined }],
  ["unknown_table", "it is another tenant's", { due: aDue({ tenant: "other" }) }],
  ["unknown_table", "it has never been visible", { table: aTable({ state: "staged" }) }],
  ["already_dropped", "it is dropped", { table: aTable({ state: "dropped", drop: aDrop() }) }],
  ["already_dropped", "it is being purged", { table: aTable({ state: "purging", drop: aDrop() }) }],
  ["already_dropped", "it is purged", { table: aTable({ state: "purged", drop: aDrop() }) }],
  ["not_managed", "T22 it is a view", { table: aTable({ kind: "view", location: null }) }],
  ["not_managed", "T22 it is external", { table: aTable({ kind: "external", location: null }) }],
  ["not_managed", "T22 it is an artifact", { table: aTable({ kind: "artifact", location: null }) }],
  [
    "protected",
    "T19 its environment is protected",
    { environment: anEnvironment({ protected: true }) },
  ],
  ["project_asset", "T20 the current project needs it", { table: aTable({ projectAsset: true }) }],
  ["held", "T21 a write is running", { holds: [aHold()] }],
  ["held", "T21 a pipeline task has not ended", { holds: [aHold({ kind: "pipeline_task" })] }],
  ["held", "T21 one of several holds still lasts", { holds: [aHold({ expiresAt: NOW }), aHold()] }],
  ["changed", "something changed since", { table: aTable({ changeVersion: 8n }) }],
  [
    "policy_changed",
    "its retention was touched since",
    { table: aTable({ retentionVersion: 6n }) },
  ],
  [
    "policy_changed",
    "its environment was touched since",
    { environment: anEnvironment({ policyVersion: 4n }) },
  ],
];

describe("decideDue", () => {
  test("T27 drops a due table that nothing keeps, with the retention as it was confirmed", () => {
    expect(decideDue(facts())).toEqual({ kind: "drop", retention: anExpiredRetention() });
  });

  test.each(KEPT)("keeps as %s: %s", (reason, _, patch) => {
    expect(decideDue(facts(patch))).toMatchObject({ kind: "keep", reason });
  });

  test("covers every reason a table can be kept for", () => {
    const covered = new Set(KEPT.map(([reason]) => reason));
    // `failed` is no decision: the use case says it when deciding threw.
    expect([...covered, "failed"].sort()).toEqual([...KEPT_REASONS].sort());
  });

  test("acts on an event up to a minute old", () => {
    expect(decideDue(facts({ due: aDue({ issuedAt: later(-60_000) }) })).kind).toBe("drop");
  });

  test("T21 a hold that has ended keeps nothing", () => {
    expect(decideDue(facts({ holds: [aHold({ expiresAt: NOW })] })).kind).toBe("drop");
  });

  test("asks to settle exactly what the catalog is ahead in", () => {
    const settle = (patch: Partial<DueFacts>) => {
      const decision = decideDue(facts(patch));
      return decision.kind === "keep" ? decision.settle : undefined;
    };
    expect(settle({ table: aTable({ retentionVersion: 6n }) })).toEqual({
      table: true,
      environment: false,
    });
    expect(settle({ environment: anEnvironment({ policyVersion: 4n }) })).toEqual({
      table: false,
      environment: true,
    });
    expect(settle({ table: aTable({ retentionVersion: 4n }) })).toEqual({
      table: false,
      environment: false,
    });
    expect(settle({ holds: [aHold()] })).toBeUndefined();
  });

  test("never drops when any one fact forbids it, whatever the others are", () => {
    const forbidding = fc.subarray(
      KEPT.map(([, , patch]) => patch),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(forbidding, (patches) => {
        // A later patch may undo an earlier one's key, never its own: the last one always forbids.
        const combined: DueFacts = Object.assign(facts(), ...patches);
        expect(decideDue(combined).kind).toBe("keep");
      }),
    );
  });

  test("never drops a table whose activity the evaluator had not seen", () => {
    const version = fc.bigInt({ min: 0n, max: 9n });
    fc.assert(
      fc.property(version, version, version, (change, retention, policy) => {
        const decision = decideDue(
          facts({
            due: aDue({
              changeVersion: change,
              retentionVersion: retention,
              policyVersion: policy,
            }),
            confirmation: aConfirmation({
              seen: { changeVersion: change, retentionVersion: retention, policyVersion: policy },
            }),
          }),
        );
        const same = change === 7n && retention === 5n && policy === 3n;
        expect(decision.kind).toBe(same ? "drop" : "keep");
      }),
    );
  });

  test("the kept time is judged by the instant, not by the day", () => {
    const retention = anExpiredRetention({ expiredAt: NOW, lastActivityAt: daysBefore(30) });
    expect(decideDue(facts({ confirmation: aConfirmation({ retention }) })).kind).toBe("drop");
  });
});
