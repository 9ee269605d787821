/** What the caller can do about a refusal; each is an error kind of the API. */
export type RefusalKind =
  | "invalid"
  | "not_found"
  | "already_exists"
  | "conflict"
  | "precondition"
  | "exhausted";

/** Why something was not done: a stable reason for programs and a sentence for people that says what to do. */
export interface Refusal {
  readonly kind: RefusalKind;
  /** UPPER_SNAKE, e.g. `NAME_TAKEN`. */
  readonly reason: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, string>>;
  readonly violations?: readonly { readonly field: string; readonly description: string }[];
}

/** What a decision allows, or why it does not. */
export type Decided<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal };

export const accept = <T>(value: T): Decided<T> => ({ ok: true, value });

export const refuse = (
  kind: RefusalKind,
  reason: string,
  message: string,
  extra: Pick<Refusal, "details" | "violations"> = {},
): { readonly ok: false; readonly refusal: Refusal } => ({
  ok: false,
  refusal: { kind, reason, message, ...extra },
});
