import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { DecisionFilterSchema } from "@lapse/proto/audit";
import type { DecisionFilterJson } from "../schemas/audit.ts";

/** Which decisions are asked for, as audit takes it; what is absent does not narrow. */
export const decisionFilter = ({
  type = "",
  resource = "",
  actor = "",
  since,
  until,
  run_id: runId = "",
}: DecisionFilterJson): MessageInitShape<typeof DecisionFilterSchema> => ({
  type,
  resource,
  actor,
  runId,
  ...(since !== undefined && { since: timestampFromDate(new Date(since)) }),
  ...(until !== undefined && { until: timestampFromDate(new Date(until)) }),
});
