import { sourceOf, useOf } from "../../app/metrics-report.ts";
import { reportActivity } from "../../app/report-activity.ts";
import { resolveTables } from "../../app/resolve-tables.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { Nothing, operation } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { IcebergError, IcebergPath, MetricsReport } from "../schemas/iceberg.ts";
import { nameRef } from "../tables/address.ts";

/** What separates the levels of a namespace in a path. */
const UNIT_SEPARATOR = "\u001f";

const FAILURE = { type: "application/json", schema: IcebergError };

/** `/v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics`: how Iceberg's clients report reads and commits (T16). */
export function icebergMetricsRoutes(api: Api, { peers, broker, metrics, now }: ApiDeps): void {
  const reports = metrics.counter(
    "lapse_iceberg_reports_total",
    "Iceberg metrics reports accepted, by the use that they told of; none: of a kind not known",
    ["use"],
  );

  api.post(
    "/:prefix/namespaces/:namespace/tables/:table/metrics",
    {
      schema: operation({
        id: "reportIcebergMetrics",
        tag: "Activity",
        summary: "Report a scan or a commit, as an Iceberg REST catalog takes it",
        description:
          "A scan is a read and needs the right to read; a commit is a write, `replace` maintenance, and needs the right to write. The table is the one of the path, the time that of the call.",
        params: IcebergPath,
        body: MetricsReport,
        answer: Nothing,
        status: 204,
        problems: [404],
        failure: FAILURE,
      }),
    },
    async (request, reply) => {
      const call = callOf(request, reply);
      const { prefix, namespace, table: name } = request.params;
      const ref = nameRef(prefix, namespace.replaceAll(UNIT_SEPARATOR, "."), name);
      const report = { ...request.body, type: request.body["report-type"] };
      const use = {
        table: ref,
        pointer: "/table",
        occurredAt: undefined,
        source: sourceOf(report),
      };
      const kind = useOf(report);
      if (kind) {
        await reportActivity({ ...peers, broker, now }, call, [{ ...use, kind }]);
      } else {
        await resolveTables(peers, call, [use]);
        call.log.info({ report_type: report.type }, "an Iceberg report of an unknown type");
      }
      reports.inc({ use: kind ?? "none" });
      return reply.code(204).send();
    },
  );
}
