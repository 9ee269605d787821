import type { TableFacts } from "./table-facts.ts";

/** The versions an answer rests on, or must rest on at least. */
export interface SeenVersions {
  readonly changeVersion: bigint;
  readonly retentionVersion: bigint;
  readonly policyVersion: bigint;
}

/**
 * Whether what is known of the table is at least as new as what the caller has seen. A table not known is
 * not.
 */
export function hasSeen(facts: TableFacts | undefined, wanted: SeenVersions): boolean {
  const seen = facts ?? { changeVersion: 0n, retentionVersion: 0n, policyVersion: 0n };
  return (
    seen.changeVersion >= wanted.changeVersion &&
    seen.retentionVersion >= wanted.retentionVersion &&
    seen.policyVersion >= wanted.policyVersion
  );
}
