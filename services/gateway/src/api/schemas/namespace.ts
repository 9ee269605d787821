import * as z from "zod";
import { page } from "./pages.ts";
import { EnvironmentName, Instant, Namespace as Path } from "./values.ts";

/** A namespace: a dotted path in an environment. */
export const Namespace = z
  .strictObject({
    environment: EnvironmentName,
    path: Path,
    created_by: z.string(),
    created_at: Instant,
  })
  .meta({ id: "Namespace" });

export const NamespacePage = page(Namespace);

export const NewNamespace = z
  .strictObject({ path: Path })
  .meta({ id: "NewNamespace", examples: [{ path: "bronze.raw" }] });

export type NamespaceJson = z.output<typeof Namespace>;
