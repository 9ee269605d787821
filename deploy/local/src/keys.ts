import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { SignJWT } from "jose";
import { readIfThere, writePrivateFile } from "./private-file.ts";

/** Whom a token speaks for; the claims of `architecture.md` section 5. */
export interface Identity {
  readonly subject: string;
  readonly kind: "person" | "service";
  /** `*` speaks for every tenant. */
  readonly tenant: string;
  readonly roles: readonly string[];
}

/** Issues the tokens of one stack; `publicKeyFile` (PEM, SPKI) is what its services check them with. */
export interface TokenIssuer {
  readonly publicKeyFile: string;
  readonly issuer: string;
  readonly audience: string;
  readonly sign: (identity: Identity) => Promise<string>;
}

/** The person of the embedded stack, and its one tenant. */
export const adminIdentity: Identity = {
  subject: "admin",
  kind: "person",
  tenant: "local",
  roles: ["superadmin"],
};

/** As whom a service calls the others. */
export function serviceIdentity(name: string): Identity {
  return { subject: name, kind: "service", tenant: "*", roles: [] };
}

/** Opens the key pair in `<dir>/keys` (ES256), made on first use; the private key is for its owner alone (0600). */
export async function openIssuer(dir: string): Promise<TokenIssuer> {
  const folder = join(dir, "keys");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const privateKey = await keepPrivateKey(join(folder, "private.pem"));
  const publicKeyFile = join(folder, "public.pem");
  const publicKey = createPublicKey(privateKey).export({ type: "spki", format: "pem" });
  await writePrivateFile(publicKeyFile, String(publicKey));
  const issuer = "lapse-local";
  const audience = "lapse";
  return {
    publicKeyFile,
    issuer,
    audience,
    sign: ({ subject, ...claims }) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "ES256", typ: "JWT" })
        .setSubject(subject)
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt()
        // Signed anew at every start; a stack that is left running for a year has to be started again.
        .setExpirationTime("365d")
        .sign(privateKey),
  };
}

async function keepPrivateKey(path: string): Promise<KeyObject> {
  const kept = await readIfThere(path);
  if (kept !== undefined) return createPrivateKey(kept);
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  await writePrivateFile(path, String(privateKey.export({ type: "pkcs8", format: "pem" })));
  return privateKey;
}
