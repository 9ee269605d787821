import type { Principal, Queryable } from "@lapse/kit";
import { waitFor } from "@lapse/test-kit";
import type { Call } from "../../src/app/call.ts";
import type { Lab } from "./lab.ts";

/** Something that opens once. */
export interface Gate {
  readonly passed: Promise<void>;
  open(): void;
}

export function gate(): Gate {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

const ANA: Principal = { subject: "ana", tenant: "local", roles: ["admin"], kind: "person" };

/** A call of ana's whose transaction waits at `before`, its clock running, and with its work done at `after`. */
export const gatedCall = <Result>(gates: {
  before?: Gate;
  after?: Gate;
  begun?: Gate;
}): Call<Result, Result> => ({
  principal: ANA,
  traceparent: "",
  signal: new AbortController().signal,
  async answer(tx: Queryable, work: () => Promise<Result>) {
    await tx.query("select now()");
    if (gates.before) {
      gates.begun?.open();
      await gates.before.passed;
    }
    const result = await work();
    if (gates.after) {
      gates.begun?.open();
      await gates.after.passed;
    }
    return result;
  },
});

/** Waits until so many transactions of this database wait for a lock. */
export const untilBlocked = (lab: Lab, count = 1): Promise<unknown> =>
  waitFor(
    async () => {
      const { rows } = await lab.deps.pool.query<{ waiting: bigint }>(
        `select count(*) as waiting from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return Number(rows[0]?.waiting ?? 0n) >= count;
    },
    { message: `${count} transactions wait for a lock` },
  );
