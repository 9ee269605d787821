import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Handlers, unauthenticated } from "@lapse/kit";
import { AccessService } from "@lapse/proto/catalog";

const HOUR_MS = 3_600_000;

/** The keys of the catalog: `lapse_<role>` stands for a key with that role; all others have been revoked. */
export function labApiKeys(roles: readonly string[]): Handlers<typeof AccessService> {
  const refuse = async () => {
    throw new Error("not expected to be called");
  };
  const names = Object.keys(AccessService.method);
  const handlers: Partial<Handlers<typeof AccessService>> = {
    async authenticateApiKey({ token }) {
      const role = roles.find((one) => token === `lapse_${one}`);
      if (role === undefined) throw unauthenticated("KEY_REVOKED", "this key was revoked");
      return {
        principal: { subject: `key:${role}`, tenant: "local", roles: [role] },
        expiresAt: timestampFromMs(Date.now() + HOUR_MS),
      };
    },
  };
  const others = Object.fromEntries(names.map((name) => [name, refuse]));
  return { ...others, ...handlers } as unknown as Handlers<typeof AccessService>;
}
