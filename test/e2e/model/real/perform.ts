import { type CallOptions, LapseError, type Principal } from "@lapse/kit";
import { TableKind } from "@lapse/proto/events";
import { type Operation, type Outcome, type Performed, SLOTS } from "../rules/operation.ts";
import { type Actor, PEOPLE, STRANGER } from "../rules/people.ts";
import { aimOf, holdOf, idIn, refTo } from "./aim.ts";
import { commit, committed } from "./commit.ts";
import { ms } from "./instants.ts";
import { reportUse } from "./report-use.ts";
import { midnightOf, setRetention } from "./set-retention.ts";
import type { Stack } from "./stack.ts";
import { type Answer, note, type Subject } from "./subject.ts";

/** A busy machine is no difference. */
const DEADLINE_MS = 60_000;
/** How long an answer that the evaluator cannot give yet is asked for again. */
const BEHIND_MS = 30_000;

/** Performs an operation and says what came of it; undefined where there is nothing that it could be aimed at. */
export async function perform(
  stack: Stack,
  subject: Subject,
  operation: Operation,
  { beside }: { readonly beside: boolean },
): Promise<Performed | undefined> {
  const aim = "target" in operation ? aimOf(subject, operation) : undefined;
  if ("target" in operation && aim === undefined) return undefined;
  const hold = holdOf(subject, operation);
  if ((operation.kind === "renew" || operation.kind === "release") && hold === undefined) {
    return undefined;
  }
  const began = Date.now();
  for (let repeated = 0; ; repeated++) {
    const about: About = {
      beside,
      ...(repeated > 0 && { repeated }),
      ...(aim && { aim }),
      ...(hold !== undefined && { holdId: hold }),
    };
    try {
      const answer = await call(stack, subject, operation, about);
      return { operation, outcome: { ...about, ...answer, began, ended: Date.now() } };
    } catch (error) {
      if (!(error instanceof LapseError)) throw error;
      // The evaluator could not say yet when the table expires.
      if (error.reason === "EVALUATOR_BEHIND" && Date.now() - began < BEHIND_MS) continue;
      if (["unavailable", "internal", "unauthenticated"].includes(error.kind)) {
        throw new Error(`${JSON.stringify({ operation, about })} failed: ${error.reason}`, {
          cause: error,
        });
      }
      const asked = {
        ...(operation.kind === "setRetention" && { midnight: midnightOf(operation) }),
        ...committed(subject, operation, aim),
      };
      const refused = error.reason;
      return { operation, outcome: { ...about, ...asked, refused, began, ended: Date.now() } };
    }
  }
}

type About = Pick<Outcome, "beside" | "repeated" | "aim" | "holdId">;
async function call(
  stack: Stack,
  subject: Subject,
  operation: Operation,
  { aim, holdId }: About,
): Promise<Answer> {
  const { catalog, policy } = stack;
  const { environment, environmentId } = subject;
  const as: CallOptions = { principal: principalOf(subject, operation), deadlineMs: DEADLINE_MS };
  const inEnvironment = { ref: { case: "environmentId" as const, value: environmentId } };
  switch (operation.kind) {
    case "create": {
      const { table } = await catalog.createTable(
        {
          name: { environment, ...(SLOTS[operation.slot] ?? SLOTS[0]) },
          kind: operation.tableKind === "view" ? TableKind.VIEW : TableKind.MANAGED,
          columns: [{ name: "id", type: "BIGINT" }],
          staged: operation.staged,
        },
        as,
      );
      subject.tableIds.push(note(subject, table));
      return { made: table?.tableId ?? "" };
    }
    case "commit":
      return commit(stack, subject, operation, { aim, holdId, as });
    case "describe":
      await catalog.updateTable({ ...refTo(subject, aim), description: operation.text }, as);
      return {};
    case "rename":
      await catalog.updateTable(
        { ...refTo(subject, aim), ...(SLOTS[operation.slot] ?? SLOTS[0]) },
        as,
      );
      return {};
    case "deploy": {
      const { version, assets } = operation;
      const request = { environment: inEnvironment, project: environment, version };
      await catalog.deployProject({ ...request, assets: [...assets] }, as);
      return {};
    }
    case "undeploy":
      await catalog.undeployProject({ environment: inEnvironment, project: environment }, as);
      return {};
    case "drop":
      await catalog.dropTable(refTo(subject, aim), as);
      return {};
    case "undrop":
      await catalog.undropTable({ ...refTo(subject, aim), asName: operation.asName ?? "" }, as);
      return {};
    case "setRetention":
      return setRetention(stack, operation, { tableId: idIn(aim), as });
    case "setEnvironmentRetention": {
      const { days } = operation;
      await policy.setEnvironmentRetention({ environmentId, ...(days !== null && { days }) }, as);
      return {};
    }
    case "protect": {
      await catalog.updateEnvironment(
        { environment: inEnvironment, protected: operation.protected },
        as,
      );
      return {};
    }
    case "deleteEnvironment":
      await catalog.deleteEnvironment({ environment: inEnvironment }, as);
      return {};
    case "touchTable":
      await catalog.touchTable(refTo(subject, aim), as);
      return {};
    case "touchEnvironment":
      await catalog.touchEnvironment({ environment: inEnvironment }, as);
      return {};
    case "hold": {
      const { hold } = await catalog.createHold(refTo(subject, aim), as);
      subject.holdIds.push(hold?.holdId ?? "");
      return { made: hold?.holdId ?? "", until: ms(hold?.expiresAt) };
    }
    case "renew": {
      const { hold } = await catalog.renewHold({ holdId: holdId ?? "" }, as);
      return { until: ms(hold?.expiresAt) };
    }
    case "release":
      await catalog.releaseHold({ holdId: holdId ?? "" }, as);
      return {};
    case "use":
      return reportUse(stack, subject, operation, aim);
  }
}

function principalOf({ tenant }: Subject, operation: Operation): Principal {
  const actor: Actor = "actor" in operation ? operation.actor : "root";
  return actor === STRANGER
    ? { subject: actor, tenant: "elsewhere", roles: ["admin"], kind: "person" }
    : { subject: actor, tenant, roles: [PEOPLE[actor]], kind: "person" };
}
