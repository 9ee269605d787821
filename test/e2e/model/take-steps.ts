import { applyOne, type Life, note, step } from "./life.ts";
import { perform } from "./real/perform.ts";
import type { Stack } from "./real/stack.ts";
import { applyBoth } from "./rules/apply.ts";
import type { Operation } from "./rules/operation.ts";
import type { Step } from "./sequences.ts";
import type { Tally } from "./tally.ts";

/** Makes what a sequence starts with. */
export async function makeFirst(stack: Stack, tally: Tally, life: Life): Promise<void> {
  const { tables, retention } = life.sequence;
  const creations = Array.from({ length: tables }, (_, slot): Operation => {
    return { kind: "create", actor: "ana", slot, tableKind: "managed", staged: false };
  });
  const setting: readonly Operation[] =
    retention === null ? [] : [{ kind: "setEnvironmentRetention", actor: "root", days: retention }];
  for (const operation of [...creations, ...setting]) {
    const performed = await perform(stack, life.subject, operation, { beside: false });
    tally.performed(performed);
    note(life, "first", performed);
    applyOne(life, performed);
  }
}

/** Does one thing after the other, and at the same time what is beside. */
export async function takeSteps(
  stack: Stack,
  tally: Tally,
  life: Life,
  steps: readonly Step[],
): Promise<void> {
  for (const { operation, beside } of steps) {
    if (life.difference) return;
    const together = { beside: beside !== null };
    const [one, other] = await Promise.all([
      perform(stack, life.subject, operation, together),
      beside === null ? undefined : perform(stack, life.subject, beside, together),
    ]);
    tally.performed(one);
    tally.performed(other);
    note(life, `round ${life.round}`, one);
    note(life, `round ${life.round}, beside`, other);
    if (one && other) step(life, (model) => applyBoth(model, one, other));
    else applyOne(life, one ?? other);
  }
}
