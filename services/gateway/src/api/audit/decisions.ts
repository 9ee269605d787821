import { reading } from "../../app/call.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { operation } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { renderDecision, renderVerification } from "../render/decision.ts";
import { pageOf } from "../render/values.ts";
import { ChainVerification, DecisionPage, DecisionQuery } from "../schemas/audit.ts";
import { decisionFilter } from "./filter.ts";

/** Every record is read and hashed again. */
const VERIFY_WITHIN_MS = 10 * 60_000;

/** `/audit`, `/audit/verify` (T32) */
export function auditRoutes(api: Api, { peers: { audit } }: ApiDeps): void {
  api.get(
    "/audit",
    {
      schema: operation({
        id: "listDecisions",
        tag: "Audit",
        summary: "List decisions, the latest first",
        query: DecisionQuery,
        answer: DecisionPage,
      }),
    },
    async (request, reply) => {
      const { limit, cursor = "", ...filter } = request.query;
      const answer = await audit.listDecisions(
        { filter: decisionFilter(filter), limit, cursor },
        reading(callOf(request, reply)),
      );
      return pageOf(answer.records.map(renderDecision), answer.nextCursor);
    },
  );

  api.get(
    "/audit/verify",
    {
      schema: operation({
        id: "verifyChain",
        tag: "Audit",
        summary: "Recompute every hash of the chain",
        answer: ChainVerification,
      }),
    },
    async (request, reply) => {
      const options = reading(callOf(request, reply), { deadlineMs: VERIFY_WITHIN_MS });
      return renderVerification(await audit.verifyChain({}, options));
    },
  );
}
