import { generateKeyPairSync, sign } from "node:crypto";

/** Whom a token speaks for; `*` is the tenant of services. */
export interface TokenClaims {
  readonly subject: string;
  readonly tenant: string;
  readonly roles?: readonly string[];
  readonly kind?: "person" | "service" | "key";
}

/** A key pair made for one test file, and the tokens it signs. */
export interface TestTokens {
  /** PEM, SPKI: what `LAPSE_AUTH__PUBLIC_KEY` takes. */
  readonly publicKey: string;
  /** A JWT that is good for an hour. */
  readonly sign: (claims: TokenClaims) => string;
}

const HOUR_S = 3_600;

/** Tokens that a service accepts which is given the public key. */
export function testTokens(): TestTokens {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return {
    publicKey: String(publicKey.export({ type: "spki", format: "pem" })),
    sign: ({ subject, ...claims }) => {
      const issuedAt = Math.floor(Date.now() / 1_000);
      const header = { alg: "EdDSA", typ: "JWT" };
      const payload = { sub: subject, ...claims, iat: issuedAt, exp: issuedAt + HOUR_S };
      const signed = `${encode(header)}.${encode(payload)}`;
      return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
    },
  };
}
