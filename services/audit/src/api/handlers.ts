import type { Handlers, Pool } from "@lapse/kit";
import type { AuditService } from "@lapse/proto/audit";
import type { AppendSignal } from "../app/append-signal.ts";
import { findSourceGaps } from "../app/find-source-gaps.ts";
import { listDecisions } from "../app/list-decisions.ts";
import { requireAuditRead } from "../app/require-audit-read.ts";
import { verifyChain } from "../app/verify-chain.ts";
import { watchDecisions } from "../app/watch-decisions.ts";
import { hexOf } from "../domain/chain.ts";
import { toRecordMessage } from "../messages/record.ts";
import type { Catalog } from "../peers/catalog.ts";
import { parseCursor, toCursor } from "./cursor.ts";
import { parseAfterSeq, parseFilter, parseLimit } from "./request.ts";

export interface AuditDeps {
  readonly pool: Pool;
  readonly appended: AppendSignal;
  readonly catalog: Catalog;
}

/** The methods of AuditService. Each lets a caller read the chain of its own tenant, and no other. */
export function auditHandlers(deps: AuditDeps): Handlers<typeof AuditService> {
  const { pool, appended } = deps;
  return {
    async listDecisions(request, call) {
      await requireAuditRead(deps, call);
      const { records, next } = await listDecisions(pool, {
        tenant: call.principal.tenant,
        filter: parseFilter(request.filter),
        after: parseCursor(request.cursor),
        limit: parseLimit(request.limit),
      });
      return {
        records: records.map(toRecordMessage),
        nextCursor: next === null ? "" : toCursor(next),
      };
    },

    async verifyChain(_request, call) {
      await requireAuditRead(deps, call);
      const { records, head, fault } = await verifyChain(pool, call.principal.tenant, call.signal);
      return {
        ok: fault === null,
        records,
        headHash: head.seq === 0n ? "" : hexOf(head.hash),
        brokenAtSeq: fault?.seq ?? 0n,
        fault: fault?.fault ?? "",
        gaps: await findSourceGaps(pool),
      };
    },

    async *watchDecisions(request, call) {
      await requireAuditRead(deps, call);
      const watch = {
        tenant: call.principal.tenant,
        filter: parseFilter(request.filter),
        afterSeq: parseAfterSeq(request.afterSeq),
      };
      for await (const record of watchDecisions({ pool, appended }, watch, call.signal)) {
        yield { record: toRecordMessage(record) };
      }
    },
  };
}
