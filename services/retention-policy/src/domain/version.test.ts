import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Change, commit, settle, type Versioned } from "./version.ts";

/** One step of the callers, the catalog or a sweep; `caller` picks one of three. */
type Step =
  | { readonly kind: "judge" | "touch" | "commit" | "die"; readonly caller: number }
  | { readonly kind: "restore" | "hear_restored" | "sweep" };

type CommitRule = (stored: Versioned<string>, change: Change<string>) => Versioned<string> | null;

interface Caller {
  judgedOn: bigint | null;
  touch: bigint | null;
}

/** What the catalog, retention-policy and three callers hold, with all that was acknowledged. */
interface World {
  catalogVersion: bigint;
  stored: Versioned<string>;
  readonly callers: Caller[];
  readonly acknowledged: { readonly rule: string; readonly touch: bigint }[];
  /** Dropped while a change was ordered but neither acknowledged nor refused. */
  droppedUnderAChange: boolean;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constantFrom("judge", "touch", "commit", "commit", "die"),
      caller: fc.nat(2),
    }),
    fc.record({ kind: fc.constantFrom("restore", "hear_restored", "sweep") }),
  ),
  { maxLength: 60, size: "max" },
);

function play(sequence: readonly Step[], commitRule: CommitRule): World {
  const world: World = {
    catalogVersion: 0n,
    stored: { rule: null, version: 0n },
    callers: Array.from({ length: 3 }, () => ({ judgedOn: null, touch: null })),
    acknowledged: [],
    droppedUnderAChange: false,
  };
  sequence.forEach((step, index) => {
    take(world, step, `rule ${index}`, commitRule);
  });
  return world;
}

function take(world: World, step: Step, rule: string, commitRule: CommitRule): void {
  switch (step.kind) {
    case "restore":
      world.catalogVersion += 1n;
      return;
    case "hear_restored":
      world.stored = settle(world.stored, world.catalogVersion) ?? world.stored;
      return;
    case "sweep":
      sweep(world);
      return;
    default:
      act(world, step.kind, world.callers[step.caller] as Caller, rule, commitRule);
  }
}

/** The catalog drops on equal versions, and asks to settle otherwise. */
function sweep(world: World): void {
  if (world.stored.version === world.catalogVersion) {
    world.droppedUnderAChange ||= world.callers.some(
      ({ touch }) =>
        touch !== null && touch === world.catalogVersion && !isSettledFor(world, touch),
    );
    return;
  }
  world.stored = settle(world.stored, world.catalogVersion) ?? world.stored;
}

/** A change whose touch is not newer than what is stored can only be refused. */
function isSettledFor(world: World, touch: bigint): boolean {
  return touch <= world.stored.version;
}

function act(
  world: World,
  kind: "judge" | "touch" | "commit" | "die",
  caller: Caller,
  rule: string,
  commitRule: CommitRule,
): void {
  const { judgedOn, touch } = caller;
  if (kind === "judge") {
    caller.judgedOn = world.stored.version;
    caller.touch = null;
  } else if (kind === "touch" && judgedOn !== null) {
    world.catalogVersion += 1n;
    caller.touch = world.catalogVersion;
  } else if (kind === "commit" && judgedOn !== null && touch !== null) {
    const committed = commitRule(world.stored, { rule, touch, judgedOn });
    if (committed !== null) {
      world.stored = committed;
      world.acknowledged.push({ rule, touch });
    }
    caller.judgedOn = null;
    caller.touch = null;
  } else if (kind === "die") {
    caller.judgedOn = null;
    caller.touch = null;
  }
}

/** An acknowledged rule is in force until one ordered after it is acknowledged. */
function newestOrderedRule(world: World): string | null {
  const [newest] = [...world.acknowledged].sort((a, b) => (a.touch > b.touch ? -1 : 1));
  return newest?.rule ?? null;
}

describe("the version of a rule", () => {
  test("whatever callers, sweeps and restores interleave, the rule in force is the acknowledged one ordered last", () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const world = play(sequence, commit);
        expect(world.stored.rule).toBe(newestOrderedRule(world));
        expect(world.stored.version <= world.catalogVersion).toBe(true);
        expect(world.droppedUnderAChange).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  test("after one more sweep every table can expire again, and who had died or dawdled is refused", () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const world = play([...sequence, { kind: "sweep" }], commit);
        expect(world.stored.version).toBe(world.catalogVersion);
        for (const { judgedOn, touch } of world.callers) {
          if (judgedOn !== null && touch !== null) {
            expect(commit(world.stored, { rule: "late", touch, judgedOn })).toBeNull();
          }
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("without the comparison of touches an older change replaces an acknowledged newer one", () => {
    const lastWriterWins: CommitRule = (_stored, { rule, touch }) => ({ rule, version: touch });
    const found = fc.check(
      fc.property(steps, (sequence) => {
        const world = play(sequence, lastWriterWins);
        expect(world.stored.rule).toBe(newestOrderedRule(world));
      }),
      { numRuns: 5000 },
    );
    expect(found.failed).toBe(true);
  });

  test("a change judged on another rule than the one in force is refused, be its touch the newest", () => {
    const stored = { rule: "never", version: 4n };
    expect(commit(stored, { rule: "60 days", touch: 5n, judgedOn: 3n })).toBeNull();
    expect(commit(stored, { rule: "60 days", touch: 5n, judgedOn: 4n })).toEqual({
      rule: "60 days",
      version: 5n,
    });
  });

  test("settling twice with one version, or with an older one, changes nothing", () => {
    const settled = settle({ rule: "30 days", version: 2n }, 5n);
    expect(settled).toEqual({ rule: "30 days", version: 5n });
    expect(settle({ rule: "30 days", version: 5n }, 5n)).toBeNull();
    expect(settle({ rule: "30 days", version: 5n }, 4n)).toBeNull();
  });
});
