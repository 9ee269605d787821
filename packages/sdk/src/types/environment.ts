import { recordReader } from "../read-record.ts";

export type Environment = {
  readonly id: string;
  readonly name: string;
  /** Its tables never expire (T19). */
  readonly protected: boolean;
  readonly retention_days: number | null;
  readonly retention_set_by: string | null;
  readonly retention_set_at: Date | null;
  /** True while the retention could not be told: it is then null without meaning none. */
  readonly retention_unknown: boolean;
  readonly table_bucket: string;
  readonly created_by: string;
  readonly created_at: Date;
  /** What the caller may do in it, e.g. `table.read`; sorted. */
  readonly rights: readonly string[];
};

export const readEnvironment = recordReader<Environment>({
  retention_set_at: "instant",
  created_at: "instant",
});

/** An environment's own retention (T7). */
export type EnvironmentRetention = {
  readonly days: number | null;
  readonly set_by: string | null;
  readonly set_at: Date | null;
  /** In the answer to a change: what it was before. */
  readonly previous_days?: number | null;
};

export const readEnvironmentRetention = recordReader<EnvironmentRetention>({ set_at: "instant" });

export type Namespace = {
  readonly environment: string;
  /** Dotted, e.g. `bronze.raw`. */
  readonly path: string;
  readonly created_by: string;
  readonly created_at: Date;
};

export const readNamespace = recordReader<Namespace>({ created_at: "instant" });

/** A project's version that is current in an environment: the tables it builds never expire there (T20). */
export type Project = {
  readonly name: string;
  readonly environment: string;
  readonly version: string;
  /** Names of tables, e.g. `gold.orders`, whether they exist yet or not. */
  readonly assets: readonly string[];
  readonly deployed_by: string;
  readonly deployed_at: Date;
};

export const readProject = recordReader<Project>({ deployed_at: "instant" });
