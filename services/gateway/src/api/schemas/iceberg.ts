import * as z from "zod";
import { EnvironmentName, Namespace, TableName } from "./values.ts";

/** The path of a table as Iceberg's REST catalog has it. */
export const IcebergPath = z.strictObject({
  prefix: EnvironmentName.meta({ description: "The environment." }),
  namespace: Namespace.meta({
    description: "Its levels separated by the unit separator (`%1F`), or by dots.",
  }),
  table: TableName,
});

/**
 * A metrics report. Which kind it is, and for a commit of which kind, is all that is looked at, besides who sent
 * it; the numbers in it, which JavaScript could not hold, are neither read nor kept.
 */
export const MetricsReport = z
  .looseObject({
    "report-type": z
      .string()
      .min(1)
      .max(200)
      .meta({ description: "`scan-report`, `commit-report`; any other is taken and ignored." }),
    operation: z.unknown().optional().meta({ description: "Of a commit." }),
    metadata: z.unknown().optional().meta({ description: "`engine-name` names the source." }),
  })
  .meta({
    id: "IcebergMetricsReport",
    examples: [
      {
        "report-type": "scan-report",
        "table-name": "bronze.trial",
        "snapshot-id": 1,
        filter: true,
        "schema-id": 0,
        "projected-field-ids": [1],
        "projected-field-names": ["id"],
        metrics: { "result-data-files": { unit: "count", value: 1 } },
        metadata: { "engine-name": "spark", "engine-version": "3.5.1" },
      },
    ],
  });

/** What a failed call answers, in the form that Iceberg's clients read. */
export const IcebergError = z
  .strictObject({
    error: z.strictObject({
      message: z.string(),
      type: z.string().meta({ examples: ["NoSuchTableException"] }),
      code: z.int().meta({ examples: [404] }),
    }),
  })
  .meta({
    id: "IcebergError",
    examples: [
      {
        error: {
          message: "there is no table bronze.trial in dev",
          type: "NoSuchTableException",
          code: 404,
        },
      },
    ],
  });
