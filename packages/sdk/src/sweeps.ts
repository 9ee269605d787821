import type { Http } from "./http.ts";
import type { Page, PageRequest, Sweep, SweepRun } from "./types.ts";

export function sweepsApi(http: Http) {
  return {
    /** Starts a sweep and waits up to `waitSeconds` (default 60) for its end; dry: changes nothing (T25). */
    run(options: { dryRun?: boolean; waitSeconds?: number } = {}): Promise<SweepRun> {
      const waitSeconds = options.waitSeconds ?? 60;
      const body = { dry_run: options.dryRun ?? false, wait_seconds: waitSeconds };
      return http.send("POST", "api/v1/sweeps", { body, timeoutMs: (waitSeconds + 30) * 1000 });
    },
    list(query: PageRequest = {}): Promise<Page<Sweep>> {
      return http.send("GET", "api/v1/sweeps", { query });
    },
    get(id: string): Promise<Sweep> {
      return http.send("GET", `api/v1/sweeps/${encodeURIComponent(id)}`);
    },
    pause(reason = ""): Promise<void> {
      return http.send("POST", "api/v1/sweeps/pause", { body: reason ? { reason } : {} });
    },
    resume(): Promise<void> {
      return http.send("POST", "api/v1/sweeps/resume", { body: {} });
    },
  };
}
