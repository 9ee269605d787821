import { ANY_TENANT, type CallContext, newId, notFound, unavailable } from "@lapse/kit";
import type { Environment, Table } from "../../src/domain/table.ts";
import type { Catalog } from "../../src/peers/catalog.ts";

/** Stands in for the catalog: keeps tables and environments, and gives out versions as it does. */
export interface LabCatalog extends Catalog {
  /** While true, no call is answered. */
  away: boolean;
  /** Runs before a touch takes effect. */
  beforeTouch: (id: string) => Promise<void>;
  /** Runs when a table or environment has been touched, before the caller hears of it. */
  afterTouch: (id: string) => Promise<void>;
  readonly touched: string[];
  /** All is well again: nothing is away and no hook runs. */
  recover(): void;
  addEnvironment(change?: Partial<Environment>): Environment;
  addTable(environment: Environment, change?: Partial<Table>): Table;
  changeTable(id: string, change: Partial<Table>): Table;
  table(id: string): Table;
  environment(id: string): Environment;
}

export function labCatalog(): LabCatalog {
  const tables = new Map<string, Table>();
  const environments = new Map<string, Environment>();

  function find<T extends { tenant: string }>(
    all: Map<string, T>,
    id: string,
    { principal }: Pick<CallContext, "principal">,
  ): T {
    if (lab.away) throw unavailable("PEER_UNREACHABLE", "the catalog is away");
    const found = all.get(id);
    if (found && [ANY_TENANT, found.tenant].includes(principal.tenant)) return found;
    throw notFound(all === (tables as unknown) ? "TABLE_NOT_FOUND" : "ENVIRONMENT_NOT_FOUND", id);
  }
  function put<T extends { id: string }>(all: Map<string, T>, value: T): T {
    all.set(value.id, value);
    return value;
  }
  const known = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error("not added before");
    return value;
  };

  const lab: LabCatalog = {
    away: false,
    beforeTouch: async () => {},
    afterTouch: async () => {},
    touched: [],
    recover() {
      lab.away = false;
      lab.beforeTouch = async () => {};
      lab.afterTouch = async () => {};
    },
    addEnvironment: (change) =>
      put(environments, {
        id: newId(),
        tenant: "local",
        name: "dev",
        rights: [],
        policyVersion: 0n,
        ...change,
      }),
    addTable: (environment, change) =>
      put(tables, {
        id: newId(),
        tenant: environment.tenant,
        environmentId: environment.id,
        environment: environment.name,
        name: "bronze.trial",
        kind: "managed",
        state: "live",
        owner: "owner",
        rights: [],
        environmentProtected: false,
        projectAsset: false,
        lastChangedAt: new Date(),
        restoredAt: null,
        changeVersion: 1n,
        retentionVersion: 0n,
        ...change,
      }),
    changeTable: (id, change) => put(tables, { ...known(tables.get(id)), ...change }),
    table: (id) => known(tables.get(id)),
    environment: (id) => known(environments.get(id)),
    getTable: async (id, call) => find(tables, id, call),
    getEnvironment: async (id, call) => find(environments, id, call),
    visibleEnvironments: async ({ principal }) =>
      [...environments.values()]
        .filter(({ tenant, rights }) => tenant === principal.tenant && rights.length > 0)
        .map(({ id }) => id),
    async touchTable(id, call) {
      await lab.beforeTouch(id);
      const { changeVersion } = find(tables, id, call);
      const version = changeVersion + 1n;
      const touched = lab.changeTable(id, {
        changeVersion: version,
        retentionVersion: version,
        lastChangedAt: new Date(),
      });
      lab.touched.push(id);
      await lab.afterTouch(id);
      return touched;
    },
    async touchEnvironment(id, call) {
      await lab.beforeTouch(id);
      const environment = find(environments, id, call);
      const touched = put(environments, {
        ...environment,
        policyVersion: environment.policyVersion + 1n,
      });
      lab.touched.push(id);
      await lab.afterTouch(id);
      return touched;
    },
  };
  return lab;
}
