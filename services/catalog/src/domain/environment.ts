/** An environment as stored. Keyed by its id; the name is unique in its tenant. */
export interface Environment {
  readonly environmentId: string;
  readonly tenant: string;
  readonly name: string;
  /** Its tables never expire (T19). */
  readonly protected: boolean;
  /** Moves by one with every change. */
  readonly changeVersion: bigint;
  /** The change version at the last touch for a change of its retention; 0 if none. */
  readonly policyVersion: bigint;
  /** Where the files of its tables live. */
  readonly tableBucket: string;
  readonly createdBy: string;
  readonly createdAt: Date;
}

/** Protects or unprotects; the same object when nothing changes. */
export function protectEnvironment<E extends Environment>(environment: E, isProtected: boolean): E {
  if (environment.protected === isProtected) return environment;
  return {
    ...environment,
    protected: isProtected,
    changeVersion: environment.changeVersion + 1n,
  };
}

/** Announces a change of its retention: every due event that was issued before is now refused (T7). */
export function touchEnvironment<E extends Environment>(environment: E): E {
  const changeVersion = environment.changeVersion + 1n;
  return { ...environment, changeVersion, policyVersion: changeVersion };
}

/** Its last change: it is deleted. */
export const deleteEnvironment = (environment: Environment): Environment => ({
  ...environment,
  changeVersion: environment.changeVersion + 1n,
});
