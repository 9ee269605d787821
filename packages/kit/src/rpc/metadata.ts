import type { Metadata } from "@grpc/grpc-js";
import type { Authenticate } from "../auth.ts";
import { denied, invalid, unauthenticated } from "../errors.ts";
import { type Principal, parsePrincipal } from "../principal.ts";

export const AUTHORIZATION = "authorization";
/** A Principal as base64url of JSON; honoured from services only. */
export const ON_BEHALF_OF = "lapse-on-behalf-of";
export const IDEMPOTENCY_KEY = "idempotency-key";
export const TRACEPARENT = "traceparent";

/** The one value of a text header; undefined when it is missing. */
export function textHeader(metadata: Metadata, name: string): string | undefined {
  const [value] = metadata.get(name);
  return typeof value === "string" ? value : undefined;
}

/**
 * Who calls, and for whom.
 *
 * @throws unauthenticated without a valid token; denied when another than a service acts for someone.
 */
export async function identify(
  metadata: Metadata,
  authenticate: Authenticate,
): Promise<{ caller: Principal; principal: Principal }> {
  const [, token] = /^Bearer +(\S+)$/i.exec(textHeader(metadata, AUTHORIZATION) ?? "") ?? [];
  if (token === undefined) {
    throw unauthenticated("TOKEN_MISSING", "a call needs a token: authorization: Bearer <token>");
  }
  const caller = await authenticate(token);
  const forwarded = textHeader(metadata, ON_BEHALF_OF);
  if (forwarded === undefined) return { caller, principal: caller };
  if (caller.kind !== "service") {
    throw denied(
      "ON_BEHALF_OF_REFUSED",
      `only a service may act for others; remove ${ON_BEHALF_OF}`,
    );
  }
  return { caller, principal: decodePrincipal(forwarded) };
}

export const encodePrincipal = ({ subject, tenant, roles, kind }: Principal): string =>
  Buffer.from(JSON.stringify({ subject, tenant, roles, kind })).toString("base64url");

function decodePrincipal(header: string): Principal {
  const principal = parsePrincipal(parseJson(Buffer.from(header, "base64url").toString()));
  if (typeof principal !== "string") return principal;
  throw invalid("ON_BEHALF_OF_INVALID", `${ON_BEHALF_OF} holds no principal (${principal})`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Whatever is no JSON is no principal either, and is reported as that.
    return undefined;
  }
}

const KEY = /^[\x21-\x7e]{1,200}$/;

/** @throws invalid unless it is 1 to 200 visible ASCII characters. */
export function checkIdempotencyKey(key: string | undefined): string | undefined {
  if (key === undefined || KEY.test(key)) return key;
  throw invalid(
    "IDEMPOTENCY_KEY_INVALID",
    "an idempotency key is 1 to 200 visible ASCII characters, such as a UUID",
  );
}
