import type { DecisionRecord } from "@lapse/proto/audit";
import { watchDecisions } from "../../app/watch-decisions.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { EventStream, operation } from "../http/operation.ts";
import { problemOf } from "../http/problems.ts";
import { bearerToken, callOf } from "../http/request-call.ts";
import { renderDecision } from "../render/decision.ts";
import { WatchHeaders, WatchQuery } from "../schemas/audit.ts";
import { eventStream, type ServerSentEvent } from "./event-stream.ts";
import { decisionFilter } from "./filter.ts";
import { untilRefused } from "./until-refused.ts";

const HEARTBEAT_MS = 15_000;
/**
 * A token that is withdrawn counts about as long as at other calls, not for as long as a stream is open. To ask is
 * cheap: the answers are remembered for seconds.
 */
const RECHECK_MS = 1_000;
const LONGEST_MS = 60 * 60_000;

/** `/audit/stream` */
export function auditStreamRoutes(
  api: Api,
  { peers, authenticate, heartbeatMs = HEARTBEAT_MS, recheckMs = RECHECK_MS }: ApiDeps,
): void {
  const stopping = new AbortController();
  api.addHook("preClose", async () => stopping.abort());

  api.get(
    "/audit/stream",
    {
      exposeHeadRoute: false,
      schema: operation({
        id: "watchDecisions",
        tag: "Audit",
        summary: "Follow decisions as server-sent events, oldest first",
        description:
          "Each is `event: decision` with its seq as `id` and the record as data. A reader that lost the " +
          "stream goes on with `Last-Event-ID` or `after`; the server ends a stream after an hour, when the " +
          "token is not accepted any more, or with `event: problem` when audit stops answering.",
        query: WatchQuery,
        headers: WatchHeaders,
        answer: EventStream,
      }),
    },
    async (request, reply) => {
      const call = callOf(request, reply);
      const ends = [stopping.signal, AbortSignal.timeout(LONGEST_MS)];
      const open = AbortSignal.any(call.signal ? [...ends, call.signal] : ends);
      const token = bearerToken(request) ?? "";
      const signal = untilRefused(() => authenticate(token), { everyMs: recheckMs, signal: open });
      const { after: afterQuery, ...filter } = request.query;
      const after = request.headers["last-event-id"] ?? afterQuery;
      const records = await watchDecisions(
        peers,
        { ...call, signal },
        {
          filter: decisionFilter(filter),
          after: after === undefined ? undefined : BigInt(after),
        },
      );
      reply
        .type("text/event-stream")
        // Its end is the end of the connection, so that a gateway that stops does not wait for it.
        .header("connection", "close")
        .header("x-accel-buffering", "no");
      return reply.send(
        eventStream({
          events: decisionEvents(records),
          heartbeatMs,
          signal,
          onFailure: (error) => {
            request.log.warn({ err: error }, "a stream of decisions broke off");
            return problemOf(error, request);
          },
        }),
      );
    },
  );
}

async function* decisionEvents(
  records: AsyncIterable<DecisionRecord>,
): AsyncGenerator<ServerSentEvent> {
  for await (const record of records) {
    yield { id: String(record.seq), event: "decision", data: renderDecision(record) };
  }
}
