import { concurrently } from "./real/concurrently.ts";
import { type Stack, uniqueName } from "./real/stack.ts";
import type { Subject } from "./real/subject.ts";
import { apply } from "./rules/apply.ts";
import { type After, each } from "./rules/judge.ts";
import type { Performed } from "./rules/operation.ts";
import { distinct, type EnvironmentModel, liveTable } from "./rules/state.ts";
import type { Sequence } from "./sequences.ts";

/** Calls under way at once. */
export const CONCURRENCY = 16;
/** Environments that share an organisation. */
const PER_ORGANISATION = 10;

/** Where an environment was otherwise than the model allows. */
export interface Difference {
  readonly sequence: Sequence;
  /** Of `sequence`, from 0. */
  readonly round: number;
  readonly faults: readonly string[];
  /** All that was done in it, and what came of it. */
  readonly history: readonly string[];
}

/** An environment, and every state that it may be in by what was done in it and what came of that. */
export interface Life {
  readonly sequence: Sequence;
  readonly subject: Subject;
  models: readonly EnvironmentModel[];
  /** The round of its sequence that it is in. */
  round: number;
  readonly history: string[];
  difference: Difference | undefined;
}

/** Creates an environment for each sequence. */
export async function begin(stack: Stack, sequences: readonly Sequence[]): Promise<Life[]> {
  const lives: Life[] = [];
  let tenant = "";
  const places = sequences.map((sequence, nth) => {
    if (nth % PER_ORGANISATION === 0) tenant = uniqueName("org");
    return { sequence, tenant, environment: uniqueName("env") };
  });
  await concurrently(places, CONCURRENCY, async ({ sequence, tenant, environment }) => {
    const created = await stack.catalog.createEnvironment(
      { name: environment, protected: sequence.protected },
      { principal: { subject: "root", tenant, roles: ["admin"], kind: "person" } },
    );
    const environmentId = created.environment?.environmentId ?? "";
    const life: Life = {
      sequence,
      models: [newModel(environmentId, environment, sequence.protected)],
      round: 0,
      history: [],
      difference: undefined,
      subject: {
        tenant,
        environment,
        environmentId,
        tableIds: [],
        holdIds: [],
        files: new Map(),
        idOf: (namespace, name) => idOf(life.models[0], namespace, name),
        dropped: () => life.models[0]?.tables.filter(({ state }) => state === "dropped") ?? [],
      },
    };
    lives.push(life);
  });
  return lives;
}

const newModel = (environmentId: string, name: string, isProtected: boolean): EnvironmentModel => ({
  environmentId,
  name,
  protected: isProtected,
  protectionMoved: false,
  retention: null,
  unsettled: false,
  deployed: null,
  versions: {},
  tables: [],
  namedUses: [],
  standingFor: {},
  decisions: [
    { type: "ENVIRONMENT_CREATED", resource: environmentId, actor: "root", reason: "request" },
  ],
  drops: 0,
});

function idOf(
  model: EnvironmentModel | undefined,
  namespace: string,
  name: string,
): string | undefined {
  if (model === undefined) return undefined;
  const staged = model.tables.find(
    (each) => each.state === "staged" && each.namespace === namespace && each.name === name,
  );
  return (liveTable(model, namespace, name) ?? staged)?.tableId;
}

/** Moves on to the states that follow; where there is none, that is the difference. */
export function step(life: Life, next: (model: EnvironmentModel) => After): void {
  if (life.difference) return;
  const after = each(life.models, next);
  if (typeof after === "string") differ(life, [after]);
  else life.models = distinct(after);
}

export function differ(life: Life, faults: readonly string[]): void {
  const { sequence, round, history } = life;
  life.difference = { sequence, round, faults, history: [...history] };
}

/** The states after something that was done alone. */
export function applyOne(life: Life, performed: Performed | undefined): void {
  if (performed === undefined) return;
  step(life, (model) => {
    const after = apply(model, performed);
    return typeof after === "string" ? `${performed.operation.kind}: ${after}` : after;
  });
}

/** Writes down what was done. */
export function note(life: Life, when: string, performed: Performed | undefined): void {
  if (performed === undefined) return;
  const { kind, ...what } = performed.operation;
  const came = JSON.stringify(performed.outcome);
  life.history.push(`${when}: ${kind} ${JSON.stringify(what)} -> ${came}`);
}
