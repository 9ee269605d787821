import { createPublicKey } from "node:crypto";
import {
  createRemoteJWKSet,
  errors,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from "jose";
import { API_KEY_PREFIX, KEY_SUBJECT, type VerifyApiKey } from "./api-keys.ts";
import { LapseError, unauthenticated, unavailable } from "./errors.ts";
import { type Principal, parsePrincipal } from "./principal.ts";
import { API_KEY_LIMITS, rememberVerified, type Verified } from "./verified-tokens.ts";

/** Who issues tokens: exactly one of `jwksUrl` and `publicKey` (PEM, SPKI). */
export interface AuthSettings {
  readonly jwksUrl?: string | undefined;
  readonly publicKey?: string | undefined;
  /** Required of every token when given. */
  readonly issuer?: string | undefined;
  readonly audience?: string | undefined;
}

/** The principal that a bearer token stands for. */
export type Authenticate = (token: string) => Promise<Principal>;

/** Asymmetric only: with HMAC the published key would be the secret. */
const ALGORITHMS = ["EdDSA", "Ed25519", "ES256", "RS256", "PS256"];
const CLOCK_TOLERANCE_S = 5;
const LONGEST_TOKEN = 8_192;

/**
 * Verifies JWTs with claims `sub`, `tenant`, `roles` and `kind` (person unless said), and API keys where
 * `apiKeys` says what they stand for.
 *
 * The result throws unauthenticated `TOKEN_INVALID`, `TOKEN_EXPIRED` or what `apiKeys` throws, and
 * unavailable `KEYS_UNAVAILABLE` when the keys cannot be fetched, which says nothing about the token.
 */
export function createAuthenticator(
  settings: AuthSettings,
  { apiKeys }: { readonly apiKeys?: VerifyApiKey | undefined } = {},
): Authenticate {
  const ofJwt = rememberVerified(jwtVerifier(settings));
  const ofKey = apiKeys && rememberVerified(apiKeys, API_KEY_LIMITS);
  return async (token) => {
    if (token.length > LONGEST_TOKEN) throw refused("it is too long");
    return ofKey && token.startsWith(API_KEY_PREFIX) ? ofKey(token) : ofJwt(token);
  };
}

function jwtVerifier(settings: AuthSettings): (token: string) => Promise<Verified> {
  const keys = keySource(settings);
  const options: JWTVerifyOptions = {
    algorithms: ALGORITHMS,
    clockTolerance: CLOCK_TOLERANCE_S,
    ...(settings.issuer !== undefined && { issuer: settings.issuer }),
    ...(settings.audience !== undefined && { audience: settings.audience }),
  };
  return async (token) => {
    const { payload } = await jwtVerify(token, keys, options).catch((error: unknown) => {
      throw toRefusal(error);
    });
    const { sub: subject, tenant, roles, kind, exp = Number.POSITIVE_INFINITY } = payload;
    const principal = parsePrincipal({ subject, tenant, roles, kind });
    if (typeof principal === "string") throw refused(`its claims are wrong (${principal})`);
    if (principal.kind === "key" || principal.subject.startsWith(KEY_SUBJECT)) {
      throw refused("it claims to be an API key, which is shown as itself");
    }
    return { principal, expiresAt: exp * 1_000 };
  };
}

function keySource({ jwksUrl, publicKey }: AuthSettings): JWTVerifyGetKey {
  if (jwksUrl !== undefined && publicKey === undefined) return publishedKeys(new URL(jwksUrl));
  if (publicKey !== undefined && jwksUrl === undefined) {
    const key = createPublicKey(publicKey);
    return async () => key;
  }
  throw new Error("exactly one of jwksUrl and publicKey must be given");
}

function publishedKeys(url: URL): JWTVerifyGetKey {
  const keys = createRemoteJWKSet(url, { timeoutDuration: 5_000, cacheMaxAge: 600_000 });
  return (header, token) =>
    keys(header, token).catch((error: unknown) => {
      if (error instanceof errors.JWKSNoMatchingKey) throw error;
      if (error instanceof errors.JWKSMultipleMatchingKeys) throw error;
      throw unavailable("KEYS_UNAVAILABLE", "the keys that sign tokens cannot be had; try again", {
        cause: error,
      });
    });
}

/** What jose throws, whatever it is, means that the token does not hold. */
function toRefusal(error: unknown): LapseError {
  if (error instanceof LapseError) return error;
  if (error instanceof errors.JWTExpired) {
    return unauthenticated("TOKEN_EXPIRED", "the token has expired; get a new one", {
      cause: error,
    });
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    return refused(`its claim ${error.claim} is not what it must be here`, error);
  }
  return refused("it is malformed, or not signed by a key and algorithm accepted here", error);
}

const refused = (why: string, cause?: unknown): LapseError =>
  unauthenticated("TOKEN_INVALID", `the token is not accepted: ${why}`, { cause });
