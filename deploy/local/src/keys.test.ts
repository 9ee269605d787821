import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { importSPKI, jwtVerify } from "jose";
import { adminIdentity, openIssuer, serviceIdentity } from "./keys.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "lapse-keys-"));
});
afterEach(() => rm(dir, { recursive: true }));

test("tokens check against the public key file and carry the principal's claims", async () => {
  const { sign, publicKeyFile, issuer, audience } = await openIssuer(dir);
  const key = await importSPKI(await readFile(publicKeyFile, "utf8"), "ES256");
  const admin = await jwtVerify(await sign(adminIdentity), key, { issuer, audience });
  expect(admin.payload).toMatchObject({
    sub: "admin",
    kind: "person",
    tenant: "local",
    roles: ["superadmin"],
  });
  const service = await jwtVerify(await sign(serviceIdentity("audit")), key, { issuer, audience });
  expect(service.payload).toMatchObject({ sub: "audit", kind: "service", tenant: "*" });
});

test("the key pair outlives a restart, and the private key is its owner's alone", async () => {
  const first = await openIssuer(dir);
  const token = await first.sign(adminIdentity);
  const again = await openIssuer(dir);
  const key = await importSPKI(await readFile(again.publicKeyFile, "utf8"), "ES256");
  await expect(jwtVerify(token, key)).resolves.toBeDefined();
  expect((await stat(join(dir, "keys", "private.pem"))).mode & 0o777).toBe(0o600);
});
