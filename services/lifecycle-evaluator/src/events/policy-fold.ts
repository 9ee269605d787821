import { foldPolicy, type PolicyChange } from "../app/fold-policy.ts";
import { readPolicyMessage } from "./policy-message.ts";
import type { StreamFold } from "./stream-fold.ts";

/** Folds `policy.>`: the rules of tables and environments. */
export const policyFold: StreamFold<PolicyChange> = {
  stream: "POLICY",
  source: "lapse.retention-policy",
  read: readPolicyMessage,
  async apply(tx, read) {
    await foldPolicy(
      tx,
      read.map(({ message }) => message),
    );
    return { refused: [], count: () => undefined };
  },
};
