import type * as z from "zod";
import type { GivenColumns } from "../schemas/table.ts";

/** Columns as the catalog takes them. */
export const givenColumns = (columns: z.output<typeof GivenColumns>) =>
  columns.map(({ name, type, required = false }) => ({ name, type, required }));
