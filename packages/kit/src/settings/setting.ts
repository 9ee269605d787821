import type { Kind } from "./kinds.ts";

/** One configuration key; T is what a program reads. */
export interface Setting<T> {
  readonly kind: Kind<T>;
  /** What it is for, in a line. */
  readonly doc: string;
  /** The default as it would be written in the environment. */
  readonly fallback: string | undefined;
  /** Whether it may be given as `…_FILE` too. */
  readonly fromFile: boolean;
  /** Whether its value is never shown. */
  readonly secret: boolean;
}

/** A key with a default. */
export const setting = <T>(kind: Kind<T>, doc: string, fallback: string): Setting<T> => ({
  kind,
  doc,
  fallback,
  fromFile: false,
  secret: false,
});

/** A key that may be missing. */
export const optional = <T>(kind: Kind<T>, doc: string): Setting<T | undefined> => ({
  kind,
  doc,
  fallback: undefined,
  fromFile: false,
  secret: false,
});

/** A key that may be missing, and given as a file; not a secret. */
export const fileable = <T>(kind: Kind<T>, doc: string): Setting<T | undefined> => ({
  ...optional(kind, doc),
  fromFile: true,
});

/** A key that may be missing, and given as a file; its value is never shown. */
export const secret = <T>(kind: Kind<T>, doc: string): Setting<T | undefined> => ({
  ...fileable(kind, doc),
  secret: true,
});

/** What a program reads from a tree of settings. */
export type Values<Tree> = {
  readonly [K in keyof Tree]: Tree[K] extends Setting<infer T> ? T : Values<Tree[K]>;
};
