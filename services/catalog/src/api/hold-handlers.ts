import type { Handlers } from "@lapse/kit";
import { type CatalogService, CreateHoldResponseSchema } from "@lapse/proto/catalog";
import { createHold } from "../app/create-hold.ts";
import type { CatalogDeps } from "../app/deps.ts";
import { holdsOfTable } from "../app/read-holds.ts";
import { releaseHold } from "../app/release-hold.ts";
import { renewHold } from "../app/renew-hold.ts";
import { HOLD_KINDS, type Hold, type HoldKind } from "../domain/hold.ts";
import { idempotentCall } from "./idempotent-call.ts";
import { type Faults, note, parsed, parseId, parseTableRef } from "./parse.ts";
import { renderHold } from "./render.ts";

type HoldHandlers = Pick<
  Handlers<typeof CatalogService>,
  "createHold" | "renewHold" | "releaseHold" | "listHolds"
>;

const render = (hold: Hold) => ({ hold: renderHold(hold) });

export const holdHandlers = (deps: CatalogDeps): HoldHandlers => ({
  async createHold(request, context) {
    const input = parsed((faults) => ({
      table: parseTableRef(faults, request.table),
      kind: parseKind(faults, request.kind),
    }));
    return createHold(deps, idempotentCall(context, CreateHoldResponseSchema, render), input);
  },

  async renewHold(request, context) {
    const holdId = parsed((faults) => parseId(faults, "/hold_id", request.holdId));
    return render(await renewHold(deps, context, holdId));
  },

  async releaseHold(request, context) {
    const holdId = parsed((faults) => parseId(faults, "/hold_id", request.holdId));
    await releaseHold(deps, context, holdId);
    return {};
  },

  async listHolds(request, context) {
    const ref = parsed((faults) => parseTableRef(faults, request.table));
    return { holds: (await holdsOfTable(deps, context, ref)).map(renderHold) };
  },
});

function parseKind(faults: Faults, given: string): HoldKind {
  const kind = HOLD_KINDS.find((kind) => kind === (given || "write"));
  if (!kind) note(faults, "/kind", `one of ${HOLD_KINDS.join(", ")}`);
  return kind ?? "write";
}
