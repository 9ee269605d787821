import { generateKeyPairSync, sign } from "node:crypto";

/** Signs tokens as an identity provider would. */
export interface TokenIssuer {
  /** PEM, for `LAPSE_AUTH__PUBLIC_KEY`. */
  readonly publicKey: string;
  /** A token with these claims that is good for an hour. */
  issue(claims: Readonly<Record<string, unknown>>): string;
}

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");

export function tokenIssuer(): TokenIssuer {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return {
    publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
    issue(claims) {
      const exp = Math.floor(Date.now() / 1_000) + 3_600;
      const content = `${encode({ alg: "EdDSA", typ: "JWT" })}.${encode({ exp, ...claims })}`;
      return `${content}.${sign(null, Buffer.from(content), privateKey).toString("base64url")}`;
    },
  };
}
