import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Handlers, unauthenticated } from "@lapse/kit";
import { AccessService } from "@lapse/proto/catalog";

const HOUR_MS = 3_600_000;

/**
 * What the catalog says of callers. Keys: `lapse_<role>` stands for one with that role, all others have been revoked.
 * A role that is bound in the tenant lets `auditors` read the log.
 */
export function labAccess(
  roles: readonly string[],
  auditors: readonly string[],
): Handlers<typeof AccessService> {
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
    async getTenantRights(_request, { principal, caller }) {
      if (caller.kind !== "service") throw new Error("only services ask");
      return { rights: auditors.includes(principal.subject) ? ["audit.read"] : [] };
    },
  };
  const others = Object.fromEntries(names.map((name) => [name, refuse]));
  return { ...others, ...handlers } as unknown as Handlers<typeof AccessService>;
}
