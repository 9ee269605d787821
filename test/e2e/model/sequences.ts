import fc from "fast-check";
import type { AskedRule, Operation, Target, UseTime } from "./rules/operation.ts";
import { USE_KINDS } from "./rules/operation.ts";
import type { Actor } from "./rules/people.ts";
import type { Moment } from "./rules/sweep.ts";

/** Things done one after the other; what is `beside` another is done at the same time. */
export interface Step {
  readonly operation: Operation;
  readonly beside: Operation | null;
}

/** What happens in an environment between two comparisons: steps, then days pass, then a sweep runs. */
export interface Round {
  readonly steps: readonly Step[];
  readonly days: number;
  readonly meanwhile: { readonly operation: Operation; readonly moment: Moment } | null;
}

/** The life of one environment. */
export interface Sequence {
  readonly protected: boolean;
  /** Tables that ana creates first, one per slot. */
  readonly tables: number;
  /** The environment's retention at first. */
  readonly retention: number | null;
  readonly rounds: readonly Round[];
}

// Nothing here is mapped or chained: a sequence that failed is shrunk by its value alone.

const actor = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Actor>("ana") },
  { weight: 2, arbitrary: fc.constantFrom<Actor>("eva", "will", "root") },
  { weight: 1, arbitrary: fc.constantFrom<Actor>("rita", "sam") },
);
const admin = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Actor>("root") },
  { weight: 1, arbitrary: fc.constantFrom<Actor>("ana", "sam") },
);
const slot = fc.nat({ max: 2 });
const nth = fc.nat({ max: 5 });
const target: fc.Arbitrary<Target> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ by: fc.constant("name" as const), slot }) },
  { weight: 1, arbitrary: fc.record({ by: fc.constant("id" as const), nth }) },
);
const days = fc.oneof(
  { weight: 14, arbitrary: fc.integer({ min: 1, max: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(3650, 3651, 0) },
);
const rule: fc.Arbitrary<AskedRule> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("days" as const), days }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("on" as const),
      inDays: fc.integer({ min: 0, max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("never" as const) }) },
);
const useTime: fc.Arbitrary<UseTime> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("unsaid" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("ago" as const), days: fc.nat({ max: 3 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("ahead" as const),
      minutes: fc.constantFrom(2, 10, 100_000),
    }),
  },
);

const create = fc.record({
  kind: fc.constant("create" as const),
  actor,
  slot,
  tableKind: fc.oneof(
    { weight: 9, arbitrary: fc.constant("managed" as const) },
    { weight: 1, arbitrary: fc.constant("view" as const) },
  ),
  staged: fc.constant(false),
});
const stage = fc.record({
  kind: fc.constant("create" as const),
  actor,
  slot,
  tableKind: fc.constant("managed" as const),
  staged: fc.constant(true),
});
const commit = fc.record({
  kind: fc.constant("commit" as const),
  actor,
  target,
  commit: fc.constantFrom("append" as const, "replace" as const, "maintain" as const),
  hold: fc.option(fc.nat({ max: 2 }), { freq: 1 }),
});
const describe = fc.record({
  kind: fc.constant("describe" as const),
  actor,
  target,
  text: fc.constantFrom("", "orders", "events"),
});
const rename = fc.record({ kind: fc.constant("rename" as const), actor, target, slot });
const deploy = fc.record({
  kind: fc.constant("deploy" as const),
  actor,
  version: fc.constantFrom("v1", "v2"),
  assets: fc.constantFrom<readonly string[]>(
    [],
    ["bronze.a"],
    ["bronze.b", "silver.raw.a"],
    ["bronze.a", "gold.none"],
  ),
});
const undeploy = fc.record({ kind: fc.constant("undeploy" as const), actor });
const drop = fc.record({ kind: fc.constant("drop" as const), actor, target });
const undrop = fc.record({
  kind: fc.constant("undrop" as const),
  actor,
  target,
  asName: fc.option(fc.constantFrom("a", "b"), { freq: 3 }),
});
const setRetention = fc.record({
  kind: fc.constant("setRetention" as const),
  actor: fc.oneof(
    { weight: 2, arbitrary: actor },
    { weight: 1, arbitrary: fc.constant<Actor>("will") },
  ),
  target,
  rule,
});
const setEnvironmentRetention = fc.record({
  kind: fc.constant("setEnvironmentRetention" as const),
  actor: admin,
  days: fc.oneof({ weight: 4, arbitrary: days }, { weight: 1, arbitrary: fc.constant(null) }),
});
const protect = fc.record({
  kind: fc.constant("protect" as const),
  actor: admin,
  protected: fc.oneof(
    { weight: 2, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
});
const touchTable = fc.record({ kind: fc.constant("touchTable" as const), target });
const touchEnvironment = fc.record({ kind: fc.constant("touchEnvironment" as const) });
const hold = fc.record({ kind: fc.constant("hold" as const), actor, target });
const renew = fc.record({ kind: fc.constant("renew" as const), actor, hold: fc.nat({ max: 2 }) });
const release = fc.record({
  kind: fc.constant("release" as const),
  actor,
  hold: fc.nat({ max: 2 }),
});
const use = fc.record({
  kind: fc.constant("use" as const),
  target,
  use: fc.constantFrom(...USE_KINDS),
  time: useTime,
  form: fc.constantFrom("json" as const, "protobuf" as const, "batch" as const),
  times: fc.integer({ min: 1, max: 3 }),
});

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 5, arbitrary: create },
  { weight: 2, arbitrary: stage },
  { weight: 5, arbitrary: commit },
  { weight: 1, arbitrary: describe },
  { weight: 3, arbitrary: rename },
  { weight: 2, arbitrary: deploy },
  { weight: 1, arbitrary: undeploy },
  { weight: 2, arbitrary: drop },
  { weight: 6, arbitrary: undrop },
  { weight: 9, arbitrary: setRetention },
  { weight: 2, arbitrary: setEnvironmentRetention },
  { weight: 2, arbitrary: protect },
  { weight: 1, arbitrary: touchTable },
  { weight: 1, arbitrary: touchEnvironment },
  { weight: 3, arbitrary: hold },
  { weight: 1, arbitrary: renew },
  { weight: 1, arbitrary: release },
  { weight: 5, arbitrary: use },
);

/** What may keep a table, or bring it back or on its way, while a sweep runs. */
const interfering: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 5, arbitrary: use },
  { weight: 3, arbitrary: setRetention },
  { weight: 2, arbitrary: commit },
  { weight: 2, arbitrary: hold },
  { weight: 1, arbitrary: describe },
  { weight: 1, arbitrary: rename },
  { weight: 1, arbitrary: deploy },
  { weight: 1, arbitrary: undeploy },
  { weight: 1, arbitrary: drop },
  { weight: 1, arbitrary: undrop },
  { weight: 1, arbitrary: create },
  { weight: 1, arbitrary: protect },
  { weight: 1, arbitrary: setEnvironmentRetention },
  { weight: 1, arbitrary: touchTable },
  { weight: 1, arbitrary: touchEnvironment },
);

const step: fc.Arbitrary<Step> = fc.record({
  operation,
  beside: fc.option(operation, { freq: 4 }),
});

const meanwhile = fc.record({
  operation: interfering,
  moment: fc.constantFrom<Moment>("beside", "before confirming", "after confirming"),
});

const round: fc.Arbitrary<Round> = fc.record({
  steps: fc.array(step, { maxLength: 4, size: "max" }),
  days: fc.oneof(
    { weight: 1, arbitrary: fc.constant(0) },
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 3 }) },
  ),
  meanwhile: fc.option(meanwhile, { freq: 4 }),
});

/** Sequences of everything that can be done in an environment. */
export const sequence: fc.Arbitrary<Sequence> = fc.record({
  protected: fc.oneof(
    { weight: 9, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
  tables: fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 1, max: 3 }) },
    { weight: 1, arbitrary: fc.constant(0) },
  ),
  retention: fc.option(fc.integer({ min: 1, max: 3 }), { freq: 2 }),
  rounds: fc.array(round, { minLength: 1, maxLength: 6, size: "max" }),
});

/** The same, but that in each round a table is read after a sweep found it due and before the catalog asks again. */
export const readWhileConfirming = ({ rounds, ...rest }: Sequence): Sequence => ({
  ...rest,
  rounds: rounds.map((each, nth) => ({
    ...each,
    meanwhile: {
      operation: {
        kind: "use",
        target: { by: "name", slot: nth % 2 },
        use: "read",
        time: { kind: "unsaid" },
        form: "json",
        times: 1,
      },
      moment: "before confirming",
    },
  })),
});
