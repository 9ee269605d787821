/** A dotted path of an environment under which tables are: `bronze.raw`, which can be there without `bronze`. */
export interface Namespace {
  readonly environmentId: string;
  readonly path: string;
  readonly createdBy: string;
  readonly createdAt: Date;
}
