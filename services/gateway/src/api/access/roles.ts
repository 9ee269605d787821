import { reading, writing } from "../../app/call.ts";
import { required } from "../../app/required.ts";
import { environmentRef } from "../environments/environments.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { NoBody, Nothing, operation } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { renderRoleGrant } from "../render/access.ts";
import { pageOf } from "../render/values.ts";
import {
  NewRoleGrant,
  RevokedRole,
  RoleGrant,
  RoleGrantPage,
  RoleQuery,
} from "../schemas/access.ts";

/** `/roles`: who has which role where, beside the roles in tokens (T6). */
export function roleRoutes(api: Api, { peers: { access } }: ApiDeps): void {
  api.get(
    "/roles",
    {
      schema: operation({
        id: "listRoles",
        tag: "Access",
        summary: "List the roles that were given",
        query: RoleQuery,
        answer: RoleGrantPage,
        problems: [404],
      }),
    },
    async (request, reply) => {
      const { environment, subject = "", limit, cursor = "" } = request.query;
      const asked = { ...heldIn(environment), subject, limit, cursor };
      const answer = await access.listRoles(asked, reading(callOf(request, reply)));
      return pageOf(answer.grants.map(renderRoleGrant), answer.nextCursor);
    },
  );

  api.post(
    "/roles",
    {
      schema: operation({
        id: "grantRole",
        tag: "Access",
        summary: "Give somebody a role, in an environment or everywhere",
        description: "Nobody gives a role above their own.",
        body: NewRoleGrant,
        answer: RoleGrant,
        problems: [404, 409, 429],
      }),
    },
    async (request, reply) => {
      const { subject, role, environment } = request.body;
      const asked = { subject, role, ...heldIn(environment) };
      const { grant } = await access.grantRole(asked, writing(callOf(request, reply)));
      return renderRoleGrant(required(grant, "grant"));
    },
  );

  api.delete(
    "/roles",
    {
      schema: operation({
        id: "revokeRole",
        tag: "Access",
        summary: "Take a role away from somebody",
        query: RevokedRole,
        body: NoBody,
        answer: Nothing,
        status: 204,
        problems: [404, 409],
      }),
    },
    async (request, reply) => {
      const { subject, role, environment } = request.query;
      const asked = { subject, role, ...heldIn(environment) };
      await access.revokeRole(asked, writing(callOf(request, reply)));
      return reply.code(204).send();
    },
  );
}

const heldIn = (environment: string | undefined) =>
  environment === undefined ? {} : { environment: environmentRef(environment) };
