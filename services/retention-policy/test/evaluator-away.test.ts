import { createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createGrpcClient, createLogger, type GrpcClient } from "@lapse/kit";
import { LifecycleEvaluatorService } from "@lapse/proto/evaluator";
import { evaluatorPeer } from "../src/peers/evaluator.ts";
import { type Lab, openLab } from "./lab/lab.ts";

const days = (value: number) => ({ rule: { case: "days", value } }) as const;
const NEVER = { rule: { case: "never", value: true } } as const;
const log = createLogger({ service: "retention-policy", level: "silent" });

/** Takes connections and says nothing, as a process that stands still does. */
let mute: Server;
const connections: Socket[] = [];
let client: GrpcClient<typeof LifecycleEvaluatorService>;
let lab: Lab;

beforeAll(async () => {
  mute = createServer((socket) => connections.push(socket));
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  const address = mute.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const url = `http://127.0.0.1:${port}`;
  client = createGrpcClient(LifecycleEvaluatorService, { url, serviceToken: "token", log });
  lab = await openLab("policy-evaluator-away", { peer: evaluatorPeer(client) });
});
afterAll(async () => {
  await lab.close();
  client.close();
  for (const socket of connections) socket.destroy();
  mute.close();
});

/** Sets a rule on a table of its own, and says how long the answer took. */
async function timed(who: "owner" | "writer" | "admin", rule: object) {
  const table = lab.catalog.addTable(lab.catalog.addEnvironment());
  const started = performance.now();
  const outcome = await lab.people[who].setTableRetention({ tableId: table.id, rule }).then(
    (answer) => ({ answer, error: undefined }),
    (error: unknown) => ({ answer: undefined, error }),
  );
  return { ...outcome, table, tookMs: performance.now() - started };
}

describe("T6 while the evaluator stands still", () => {
  test("who has one of the two rights is told within two seconds to come back", async () => {
    const { error, table, tookMs } = await timed("writer", days(30));
    expect(error).toMatchObject({ kind: "unavailable", reason: "EVALUATOR_BEHIND" });
    expect(tookMs).toBeLessThan(2_000);
    expect(lab.catalog.touched).not.toContain(table.id);
  });

  test.each([
    ["owner", days(3), undefined],
    ["admin", days(3), undefined],
    ["writer", NEVER, false],
  ] as const)("the %s sets %j all the same, within two seconds", async (who, rule, shortened) => {
    const { answer, tookMs } = await timed(who, rule);
    expect(answer).toMatchObject({ retention: { rule } });
    expect(answer?.shortened).toBe(shortened);
    expect(tookMs).toBeLessThan(2_000);
  });
});
