import * as z from "zod";
import type { TableRef } from "../../app/table-retention.ts";
import { EnvironmentName, Id, Namespace, TableName } from "../schemas/values.ts";

/** One of the two ways to a table; every route of a table is there by both. */
export interface Address {
  readonly path: string;
  readonly params: typeof ByName | typeof ById;
  /** Added to the operation's id, which is unique. */
  readonly suffix: "" | "ById";
  readonly by: string;
}

const ByName = z.strictObject({ env: EnvironmentName, namespace: Namespace, name: TableName });
const ById = z.strictObject({ id: Id });

export const ADDRESSES: readonly Address[] = [
  {
    path: "/environments/:env/namespaces/:namespace/tables/:name",
    params: ByName,
    suffix: "",
    by: "by name",
  },
  { path: "/tables/:id", params: ById, suffix: "ById", by: "by id" },
];

/** The parameters of a path below a table's. */
export const extendedBy = <Shape extends z.ZodRawShape>(params: Address["params"], shape: Shape) =>
  z.strictObject({ ...params.shape, ...shape }) as z.ZodObject<
    ((typeof ByName)["shape"] | (typeof ById)["shape"]) & Shape,
    z.core.$strict
  >;

type Params = z.output<typeof ByName> | z.output<typeof ById>;

/** How the services are told the table of a path. */
export const tableRef = (params: Params): TableRef =>
  "id" in params ? idRef(params.id) : nameRef(params.env, params.namespace, params.name);

export const idRef = (id: string): TableRef => ({ ref: { case: "tableId", value: id } });

export const nameRef = (environment: string, namespace: string, name: string): TableRef => ({
  ref: { case: "name", value: { environment, namespace, name } },
});
