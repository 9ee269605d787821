import type { Actor } from "./people.ts";

/** A rule as somebody asks for it; `on` in calendar days from today. */
export type AskedRule =
  | { readonly kind: "days"; readonly days: number }
  | { readonly kind: "on"; readonly inDays: number }
  | { readonly kind: "never" };

/** A table by the place of its name, or by its id: the nth of all that ever were, the newest first. */
export type Target =
  | { readonly by: "name"; readonly slot: number }
  | { readonly by: "id"; readonly nth: number };

/** Names of tables that sequences use. */
export const SLOTS = [
  { namespace: "bronze", name: "a" },
  { namespace: "bronze", name: "b" },
  { namespace: "silver.raw", name: "a" },
] as const;

/** When a use happened, as its reporter says: nothing; some days ago; so many minutes ahead. */
export type UseTime =
  | { readonly kind: "unsaid" }
  | { readonly kind: "ago"; readonly days: number }
  | { readonly kind: "ahead"; readonly minutes: number };

export const USE_KINDS = ["read", "written", "maintained", "changed"] as const;

/** One thing that somebody does, or that is reported. */
export type Operation =
  | {
      readonly kind: "create";
      readonly actor: Actor;
      readonly slot: number;
      readonly tableKind: "managed" | "view";
      readonly staged: boolean;
    }
  | {
      readonly kind: "commit";
      readonly actor: Actor;
      readonly target: Target;
      readonly commit: "append" | "replace" | "maintain";
      /** Which hold ends with it, of all that ever were, the newest first; null: none. */
      readonly hold: number | null;
    }
  | {
      readonly kind: "describe";
      readonly actor: Actor;
      readonly target: Target;
      readonly text: string;
    }
  | {
      readonly kind: "rename";
      readonly actor: Actor;
      readonly target: Target;
      /** The place it goes to. */
      readonly slot: number;
    }
  | {
      readonly kind: "deploy";
      readonly actor: Actor;
      readonly version: string;
      /** Empty: those that the version had before. */
      readonly assets: readonly string[];
    }
  | { readonly kind: "undeploy"; readonly actor: Actor }
  | { readonly kind: "drop"; readonly actor: Actor; readonly target: Target }
  | {
      readonly kind: "undrop";
      readonly actor: Actor;
      readonly target: Target;
      readonly asName: string | null;
    }
  | {
      readonly kind: "setRetention";
      readonly actor: Actor;
      readonly target: Target;
      readonly rule: AskedRule;
    }
  | {
      readonly kind: "setEnvironmentRetention";
      readonly actor: Actor;
      readonly days: number | null;
    }
  | { readonly kind: "protect"; readonly actor: Actor; readonly protected: boolean }
  | { readonly kind: "deleteEnvironment"; readonly actor: Actor }
  /** The first half of a change of retention, whose caller dies. */
  | { readonly kind: "touchTable"; readonly target: Target }
  | { readonly kind: "touchEnvironment" }
  | { readonly kind: "hold"; readonly actor: Actor; readonly target: Target }
  | { readonly kind: "renew"; readonly actor: Actor; readonly hold: number }
  | { readonly kind: "release"; readonly actor: Actor; readonly hold: number }
  | {
      readonly kind: "use";
      readonly target: Target;
      readonly use: (typeof USE_KINDS)[number];
      readonly time: UseTime;
      readonly form: "json" | "protobuf" | "batch";
      /** How often the same event is sent. */
      readonly times: number;
    };

/** What an operation was aimed at when it was performed. */
export type Aim =
  | { readonly by: "name"; readonly namespace: string; readonly name: string }
  | { readonly by: "id"; readonly tableId: string };

/** What came of an operation. Times are of the call, by the clock of the machine. */
export interface Outcome {
  readonly began: number;
  readonly ended: number;
  /** Something else was done at the same time. */
  readonly beside?: boolean;
  /** How often it was repeated because the evaluator was behind. */
  readonly repeated?: number;
  /** Undefined where it names no table, or there was none to be aimed at. */
  readonly aim?: Aim;
  /** The stable reason of a refusal; undefined: done. */
  readonly refused?: string;
  /** The table or hold that it made. */
  readonly made?: string;
  /** The hold it was about. */
  readonly holdId?: string;
  /** Until when the hold lasts that it made or renewed. */
  readonly until?: number;
  /** Rows and files that were committed. */
  readonly rows?: number;
  readonly files?: number;
  /** When a use happened as the event said; undefined: the event did not. */
  readonly occurredAt?: number;
  /** Midnight of the day that was asked for. */
  readonly midnight?: number;
  /** What a change of retention was answered with. */
  readonly retention?: {
    readonly shortened: boolean | undefined;
    readonly lastActivityAt: number;
    readonly expiresAt: number | null;
  };
}

/** An operation that was performed. */
export interface Performed {
  readonly operation: Operation;
  readonly outcome: Outcome;
}
