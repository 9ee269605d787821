import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { API_KEY_PREFIX, type Role } from "@lapse/kit";

/** A key as stored: never its secret. */
export interface ApiKey {
  readonly keyId: string;
  readonly tenant: string;
  /** What it is for, in its maker's words. */
  readonly name: string;
  readonly roles: readonly Role[];
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
  readonly revokedBy: string | null;
  /** To the minute; null: never used. */
  readonly lastUsedAt: Date | null;
}

/** Keys that one maker may have at the same time that are neither expired nor revoked. */
export const MAX_KEYS_PER_MAKER = 100;
export const MAX_KEY_DAYS = 365;
export const USUAL_KEY_DAYS = 90;

const DAY_MS = 86_400_000;
const SECRET_BYTES = 32;
const TOKEN = new RegExp(`^${API_KEY_PREFIX}([0-9a-f]{32})_([A-Za-z0-9_-]{43})$`);

/** The subject of the principal that a key stands for, to which roles and grants are given. */
export const keySubject = (keyId: string): string => `key:${keyId}`;

/** When a key made now expires, in calendar days. */
export const keyExpiry = (now: Date, days: number): Date => new Date(now.getTime() + days * DAY_MS);

/** A new secret of 256 random bits, as text. */
export const newSecret = (): string => randomBytes(SECRET_BYTES).toString("base64url");

/** What is stored of it; it has too many bits to be guessed from this. */
export const hashSecret = (secret: string): Buffer => createHash("sha256").update(secret).digest();

/** What its user shows: `lapse_<key id>_<secret>`. */
export const keyToken = (keyId: string, secret: string): string =>
  `${API_KEY_PREFIX}${keyId.replaceAll("-", "")}_${secret}`;

/** The parts of a token; undefined when it is none. */
export function parseKeyToken(token: string): { keyId: string; secret: string } | undefined {
  const [, id = "", secret = ""] = TOKEN.exec(token) ?? [];
  if (id === "" || secret === "") return undefined;
  const keyId = id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  return { keyId, secret };
}

/** Whether the secret is the one whose hash is stored, in a time that tells nothing of it. */
export const isSecret = (secret: string, hash: Buffer): boolean =>
  timingSafeEqual(hashSecret(secret), hash);

/** Whether it can be used now, or why not. */
export function keyState(
  { revokedAt, expiresAt }: Pick<ApiKey, "revokedAt" | "expiresAt">,
  now: Date,
): "valid" | "revoked" | "expired" {
  if (revokedAt) return "revoked";
  return now < expiresAt ? "valid" : "expired";
}
