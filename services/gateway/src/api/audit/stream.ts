import type { DecisionRecord } from "@lapse/proto/audit";
import { watchDecisions } from "../../app/watch-decisions.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { EventStream, operation } from "../http/operation.ts";
import { problemOf } from "../http/problems.ts";
import { callOf } from "../http/request-call.ts";
import { renderDecision } from "../render/decision.ts";
import { WatchHeaders, WatchQuery } from "../schemas/audit.ts";
import { eventStream, type ServerSentEvent } from "./event-stream.ts";
import { decisionFilter } from "./filter.ts";

const HEARTBEAT_MS = 15_000;
/** A token is checked when a stream begins, so a stream does not outlive it by more than this. */
const LONGEST_MS = 60 * 60_000;

/** `/audit/stream` */
export function auditStreamRoutes(api: Api, { peers, heartbeatMs = HEARTBEAT_MS }: ApiDeps): void {
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
          "stream goes on with `Last-Event-ID` or `after`; the server ends a stream after an hour, or with " +
          "`event: problem` when audit stops answering.",
        query: WatchQuery,
        headers: WatchHeaders,
        answer: EventStream,
      }),
    },
    async (request, reply) => {
      const call = callOf(request, reply);
      const ends = [stopping.signal, AbortSignal.timeout(LONGEST_MS)];
      const signal = AbortSignal.any(call.signal ? [...ends, call.signal] : ends);
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
