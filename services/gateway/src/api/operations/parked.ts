import { denied, invalid, type ParkedMessage as ParkedMessageView } from "@lapse/kit";
import * as z from "zod";
import type { Call } from "../../app/call.ts";
import { recordRefusal } from "../../app/record-refusal.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { NoBody, Nothing, operation } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { count, textOrNull } from "../render/values.ts";
import { type ParkedMessageJson, ParkedPage, ParkedQuery } from "../schemas/operations.ts";
import { text } from "../schemas/values.ts";

/** Its place in the stream of parked messages. */
const Sequence = z.string().regex(/^[1-9]\d{0,15}$/, { error: "give an id that the list shows" });
const ParkedPath = z.strictObject({ id: Sequence });
const DiscardQuery = z.strictObject({
  reason: text(500).optional().meta({ description: "Why; it goes to the log." }),
});

/** As the audit log names what was missing; no right of a tenant opens what is of all. */
const RIGHT = "parked.manage";

/** `/parked`: messages of all tenants, so for superadmins only. */
export function parkedRoutes(api: Api, { peers, broker }: ApiDeps): void {
  const requireSuperadmin = async (call: Call, id = ""): Promise<void> => {
    const { subject, roles, kind } = call.principal;
    if (kind === "service" || roles.includes("superadmin")) return;
    await recordRefusal(peers, call, {
      right: RIGHT,
      resourceKind: "parked",
      resourceId: id,
      resourceName: id === "" ? "parked messages" : `parked message ${id}`,
    });
    throw denied(
      "RIGHT_MISSING",
      `${subject} lacks the role superadmin, which parked messages need: they are of all tenants`,
      { details: { right: RIGHT, subject } },
    );
  };

  api.get(
    "/parked",
    {
      schema: operation({
        id: "listParked",
        tag: "Operations",
        summary: "List messages that were set aside, the oldest first",
        query: ParkedQuery,
        answer: ParkedPage,
      }),
    },
    async (request, reply) => {
      await requireSuperadmin(callOf(request, reply));
      const { stream, limit, cursor } = request.query;
      const page = await broker.listParked({ stream, limit, after: sequenceOf(cursor) });
      return { items: page.items.map(render), next_cursor: page.next?.toString() ?? null };
    },
  );

  api.post(
    "/parked/:id/retry",
    {
      schema: operation({
        id: "retryParked",
        tag: "Operations",
        summary: "Send a message again to where it came from",
        params: ParkedPath,
        body: NoBody,
        answer: Nothing,
        status: 204,
        problems: [404, 409],
      }),
    },
    async (request, reply) => {
      const call = callOf(request, reply);
      await requireSuperadmin(call, request.params.id);
      const { subject } = await broker.retryParked(BigInt(request.params.id));
      call.log.info({ parked: request.params.id, to: subject }, "a parked message was sent again");
      return reply.code(204).send();
    },
  );

  api.delete(
    "/parked/:id",
    {
      schema: operation({
        id: "discardParked",
        tag: "Operations",
        summary: "Delete a message for good",
        params: ParkedPath,
        query: DiscardQuery,
        body: NoBody,
        answer: Nothing,
        status: 204,
        problems: [404],
      }),
    },
    async (request, reply) => {
      const call = callOf(request, reply);
      const { principal, log } = call;
      await requireSuperadmin(call, request.params.id);
      const { reason = "" } = request.query;
      const why = { actor: principal.subject, reason, log };
      await broker.discardParked(BigInt(request.params.id), why);
      return reply.code(204).send();
    },
  );
}

function sequenceOf(cursor: string | undefined): bigint {
  if (cursor === undefined) return 0n;
  if (Sequence.safeParse(cursor).success) return BigInt(cursor);
  const description = "give next_cursor of the page before, as it was";
  throw invalid("CURSOR_INVALID", `the cursor is not one of this list; ${description}`, {
    violations: [{ field: "/cursor", description }],
  });
}

const render = (message: ParkedMessageView): ParkedMessageJson => ({
  id: message.sequence.toString(),
  stream: message.stream,
  subject: message.subject,
  reason: message.reason,
  consumer: textOrNull(message.consumer),
  deliveries: count(BigInt(message.deliveries)),
  parked_at: message.parkedAt.toISOString(),
});
