import type { CallOptions, Http, WriteOptions } from "../http/http.ts";
import { type Listing, listing } from "../listing.ts";
import { pathPart } from "../path-part.ts";
import {
  readSweep,
  readSweepConfirmed,
  readSweepHold,
  readSweepRun,
  type Sweep,
  type SweepConfirmed,
  type SweepHold,
  type SweepRun,
} from "../types/sweep.ts";

/** What to confirm: one hold, that of an environment, or the clock (T26). */
export type SweepConfirmation =
  | { readonly hold_id: string }
  | { readonly environment: string }
  | { readonly clock: true };

/** The runs that drop expired tables, for the caller's tenant. */
export function sweepsApi(http: Http) {
  return {
    /** Starts a sweep and waits up to `waitSeconds` (default 60, at most 120) for its end; dry: changes nothing (T25). */
    async run(
      { dryRun = false, waitSeconds = 60 }: { dryRun?: boolean; waitSeconds?: number } = {},
      options?: WriteOptions,
    ): Promise<SweepRun> {
      const body = { dry_run: dryRun, wait_seconds: waitSeconds };
      const timeoutMs = (waitSeconds + 30) * 1_000;
      return readSweepRun(await http.send("POST", "api/v1/sweeps", { body, timeoutMs, options }));
    },
    /** Newest first. */
    list(options?: CallOptions): Listing<Sweep> {
      return listing(http, "api/v1/sweeps", readSweep, {}, options);
    },
    /** With what became of each table. */
    async get(id: string, options?: CallOptions): Promise<Sweep> {
      return readSweep(await http.send("GET", `api/v1/sweeps/${pathPart(id)}`, { options }));
    },
    /** Nothing expires until it is resumed. */
    async pause(reason = "", options?: WriteOptions): Promise<void> {
      const body = reason ? { reason } : {};
      await http.send("POST", "api/v1/sweeps/pause", { body, options });
    },
    async resume(options?: WriteOptions): Promise<void> {
      await http.send("POST", "api/v1/sweeps/resume", { body: {}, options });
    },
    /** What waits for somebody to say that it is meant; with `all` also what has been confirmed or went away. */
    holds({ all }: { readonly all?: boolean } = {}, options?: CallOptions): Listing<SweepHold> {
      return listing(http, "api/v1/sweeps/holds", readSweepHold, { all }, options);
    },
    /** Says that it is meant: the next sweep goes on with it. */
    async confirm(what: SweepConfirmation, options?: WriteOptions): Promise<SweepConfirmed> {
      const answer = await http.send("POST", "api/v1/sweeps/confirm", { body: what, options });
      return readSweepConfirmed(answer);
    },
  };
}
