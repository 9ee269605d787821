import * as z from "zod";

/** What every failed call answers (RFC 9457). */
export const Problem = z
  .strictObject({
    type: z.string().meta({ examples: ["urn:lapse:error:TABLE_NOT_FOUND"] }),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: "A sentence that says what to do." }),
    code: z.string().meta({
      description: "Stable, for programs; the same over gRPC and in the audit log.",
      examples: ["TABLE_NOT_FOUND"],
    }),
    errors: z
      .array(
        z.strictObject({
          pointer: z.string().meta({
            description:
              "JSON pointer into the body, as a fragment; or `#/` and the name of the parameter or header.",
            examples: ["#/days"],
          }),
          detail: z.string(),
        }),
      )
      .optional()
      .meta({ description: "Every fault of the request." }),
    details: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: "Facts for programs.", examples: [{ table_id: "0190f3a2-…" }] }),
    trace_id: z.string().optional().meta({ description: "Finds the call in logs and traces." }),
  })
  .meta({
    id: "Problem",
    examples: [
      {
        type: "urn:lapse:error:TABLE_NOT_FOUND",
        title: "Not found",
        status: 404,
        detail: "there is no table bronze.trial in dev",
        code: "TABLE_NOT_FOUND",
        trace_id: "4bf92f3577b34da6a3ce929d0e0e4736",
      },
    ],
  });
