import { LapseError, unavailable } from "./errors.ts";
import { forwardFrom } from "./rpc/client.ts";
import type { CallContext, CallOptions } from "./rpc/types.ts";

/** Whoever waits for the answer is told within two seconds that there is none. */
const WITHIN_MS = 2_000;

/**
 * Asks the catalog, on behalf of whoever calls, what they may do; `send` makes the call with these options.
 *
 * @throws unavailable `CATALOG_UNREACHABLE`; else what the catalog says
 */
export async function askCatalog<T>(
  call: CallContext,
  send: (options: CallOptions) => Promise<T>,
): Promise<T> {
  try {
    return await send({ ...forwardFrom(call), deadlineMs: WITHIN_MS });
  } catch (error) {
    if (error instanceof LapseError && error.kind === "unavailable") {
      throw unavailable(
        "CATALOG_UNREACHABLE",
        "the catalog cannot be asked what you may do, and your token alone does not say; repeat the call",
        { cause: error },
      );
    }
    throw error;
  }
}
