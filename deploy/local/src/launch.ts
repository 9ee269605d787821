import type { StopStep } from "./process-identity.ts";

/** How to run one process of the stack: everything a supervisor or a test needs to know about it. */
export interface Launch {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Whom to run as, where that is not who we are. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Runs before every start: clears what a killed predecessor left behind. */
  readonly beforeStart?: () => Promise<void>;
  /** Whether it serves now. May throw a `LocalError` when waiting longer is pointless. */
  readonly isReady: () => Promise<boolean>;
  /** How it is asked to stop; SIGKILL follows the last step. */
  readonly stop: readonly StopStep[];
  /** What of a log line a person at the terminal should see; `undefined` for nothing. */
  readonly notable: (line: string) => string | undefined;
}
