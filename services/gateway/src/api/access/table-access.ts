import type { GetTableAccessResponse } from "@lapse/proto/catalog";
import { reading, writing } from "../../app/call.ts";
import { required } from "../../app/required.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { NoBody, operation } from "../http/operation.ts";
import { pointedAt } from "../http/pointers.ts";
import { callOf } from "../http/request-call.ts";
import { renderTableAccess } from "../render/access.ts";
import {
  filterPath,
  grantPath,
  MaskQuery,
  maskPath,
  NewColumnMask,
  NewRowFilter,
  NewTableGrant,
  TableAccess,
} from "../schemas/access.ts";
import { ADDRESSES, extendedBy, tableRef } from "../tables/address.ts";

const EVERYBODY = "*";

/** `…/access` of a table: grants, row filters and column masks (T6, T28). Every change answers with all of it. */
export function tableAccessRoutes(api: Api, { peers: { access } }: ApiDeps): void {
  for (const { path, params, suffix, by } of ADDRESSES) {
    const ofGrant = extendedBy(params, grantPath);
    const ofFilter = extendedBy(params, filterPath);
    const ofMask = extendedBy(params, maskPath);

    api.get(
      `${path}/access`,
      {
        schema: operation({
          id: `getTableAccess${suffix}`,
          tag: "Access",
          summary: `Show who may do what with a table, ${by}`,
          description: "For its owner and for who may manage access.",
          params,
          answer: TableAccess,
          problems: [404],
        }),
      },
      async (request, reply) => {
        const table = tableRef(request.params);
        return render(await access.getTableAccess({ table }, reading(callOf(request, reply))));
      },
    );

    api.post(
      `${path}/access/grants`,
      {
        schema: operation({
          id: `grantTable${suffix}`,
          tag: "Access",
          summary: `Give somebody a right on a table, ${by}`,
          params,
          body: NewTableGrant,
          answer: TableAccess,
          problems: [404, 409, 429],
        }),
      },
      async (request, reply) => {
        const grant = { table: tableRef(request.params), ...request.body };
        return render(await access.grantTable(grant, writing(callOf(request, reply))));
      },
    );

    api.delete(
      `${path}/access/grants/:subject/:right`,
      {
        schema: operation({
          id: `revokeTable${suffix}`,
          tag: "Access",
          summary: `Take a right on a table away from somebody, ${by}`,
          params: ofGrant,
          body: NoBody,
          answer: TableAccess,
          problems: [404, 409],
        }),
      },
      async (request, reply) => {
        const { subject, right } = request.params;
        const grant = { table: tableRef(request.params), subject, right };
        return render(await access.revokeTable(grant, writing(callOf(request, reply))));
      },
    );

    api.put(
      `${path}/access/filters/:filter`,
      {
        schema: operation({
          id: `setRowFilter${suffix}`,
          tag: "Access",
          summary: `Set or replace a row filter of a table, ${by}`,
          params: ofFilter,
          body: NewRowFilter,
          answer: TableAccess,
          problems: [404, 409, 429],
        }),
      },
      async (request, reply) => {
        const { applies_to: appliesTo, column, operator, values = [] } = request.body;
        const name = request.params.filter;
        const asked = {
          table: tableRef(request.params),
          filter: { name, appliesTo, column, operator, values },
        };
        const answer = access.setRowFilter(asked, writing(callOf(request, reply)));
        return render(await pointedAt(answer, { "/filter/name": "/filter", "/filter/": "/" }));
      },
    );

    api.delete(
      `${path}/access/filters/:filter`,
      {
        schema: operation({
          id: `removeRowFilter${suffix}`,
          tag: "Access",
          summary: `Remove a row filter of a table, ${by}`,
          params: ofFilter,
          body: NoBody,
          answer: TableAccess,
          problems: [404, 409],
        }),
      },
      async (request, reply) => {
        const asked = { table: tableRef(request.params), name: request.params.filter };
        return render(await access.removeRowFilter(asked, writing(callOf(request, reply))));
      },
    );

    api.put(
      `${path}/access/masks/:column`,
      {
        schema: operation({
          id: `setColumnMask${suffix}`,
          tag: "Access",
          summary: `Set or replace a column's mask, ${by}`,
          params: ofMask,
          query: MaskQuery,
          body: NewColumnMask,
          answer: TableAccess,
          problems: [404, 409, 429],
        }),
      },
      async (request, reply) => {
        const { applies_to: appliesTo = EVERYBODY } = request.query;
        const { column } = request.params;
        const asked = {
          table: tableRef(request.params),
          mask: { column, appliesTo, mask: request.body.mask },
        };
        const answer = access.setColumnMask(asked, writing(callOf(request, reply)));
        return render(await pointedAt(answer, { "/mask/": "/" }));
      },
    );

    api.delete(
      `${path}/access/masks/:column`,
      {
        schema: operation({
          id: `removeColumnMask${suffix}`,
          tag: "Access",
          summary: `Remove a column's mask, ${by}`,
          params: ofMask,
          query: MaskQuery,
          body: NoBody,
          answer: TableAccess,
          problems: [404, 409],
        }),
      },
      async (request, reply) => {
        const { applies_to: appliesTo = EVERYBODY } = request.query;
        const { column } = request.params;
        const asked = { table: tableRef(request.params), column, appliesTo };
        return render(await access.removeColumnMask(asked, writing(callOf(request, reply))));
      },
    );
  }
}

const render = ({ access }: Pick<GetTableAccessResponse, "access">) =>
  renderTableAccess(required(access, "access"));
