import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Handlers } from "@lapse/kit";
import { type CatalogService, ConfirmPurgeClockResponseSchema } from "@lapse/proto/catalog";
import type { CatalogDeps } from "../app/deps.ts";
import { confirmPurgeClock, getPurgeStatus } from "../app/purge-clock.ts";
import { idempotentCall } from "./idempotent-call.ts";

type PurgeHandlers = Pick<Handlers<typeof CatalogService>, "getPurgeStatus" | "confirmPurgeClock">;

export const purgeHandlers = (deps: CatalogDeps): PurgeHandlers => ({
  async getPurgeStatus(_, context) {
    const { hold, now, waiting } = await getPurgeStatus(deps, context);
    return {
      waiting: BigInt(waiting),
      ...(hold && {
        clockHold: {
          raisedAt: timestampFromDate(hold.raisedAt),
          lastSeenAt: timestampFromDate(hold.lastSeenAt),
          now: timestampFromDate(now),
          confirmedBy: hold.confirmedBy ?? "",
        },
      }),
    };
  },

  async confirmPurgeClock(_, context) {
    const call = idempotentCall(context, ConfirmPurgeClockResponseSchema, () => ({}));
    return confirmPurgeClock(deps, call);
  },
});
