/**
 * A rule, or explicitly none, as of a version that the catalog gave out (`retention_version` of a table,
 * `policy_version` of an environment). 0: the catalog never gave out one.
 */
export interface Versioned<Rule> {
  readonly rule: Rule | null;
  readonly version: bigint;
}

/** A rule about to be stored. */
export interface Change<Rule> {
  readonly rule: Rule | null;
  /** The version given out by the touch that ordered this change against every drop. */
  readonly touch: bigint;
  /** The stored version this change was judged on; it must still stand. */
  readonly judgedOn: bigint;
}

/**
 * What is stored once a change is committed, or null: a newer touch, a settlement or another change came
 * between, so the change must be judged and ordered anew. An acknowledged rule is thus never replaced by
 * one that was ordered before it, nor by one judged without it.
 */
export function commit<Rule>(
  stored: Versioned<Rule>,
  change: Change<Rule>,
): Versioned<Rule> | null {
  return stored.version === change.judgedOn && change.touch > stored.version
    ? { rule: change.rule, version: change.touch }
    : null;
}

/**
 * What is stored once the rule in force is stamped with a version that was given out, or null: nothing to
 * do, it is as new already. Whoever was given that version and has not committed yet is refused from here
 * on, and what the evaluator holds agrees with the catalog again.
 */
export function settle<Rule>(stored: Versioned<Rule>, version: bigint): Versioned<Rule> | null {
  return version > stored.version ? { rule: stored.rule, version } : null;
}
