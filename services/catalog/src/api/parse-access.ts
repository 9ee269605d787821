import { isRole, type Role, TABLE_GRANTS, type TableGrant } from "@lapse/kit";
import type { ColumnMask, CreateApiKeyRequest, RowFilter } from "@lapse/proto/catalog";
import type { NewApiKey } from "../app/create-api-key.ts";
import type { NewMask } from "../app/set-column-mask.ts";
import type { NewFilter } from "../app/set-row-filter.ts";
import { MAX_KEY_DAYS, USUAL_KEY_DAYS } from "../domain/api-key.ts";
import { isMask, MASKS } from "../domain/column-mask.ts";
import { filterFaults, isOperator } from "../domain/row-filter.ts";
import { appliesToFault, subjectFault } from "../domain/subject.ts";
import { type Faults, note } from "./parse.ts";

const MAX_KEY_NAME = 100;
const UNFIT_FOR_NAME = /[\p{Cc}\p{Cf}\p{Surrogate}]/u;

export function parseSubject(faults: Faults, subject: string): string {
  note(faults, "/subject", subjectFault(subject));
  return subject;
}

export function parseRole(faults: Faults, field: string, role: string): Role {
  if (isRole(role)) return role;
  note(faults, field, "reader, writer, data_engineer, admin or superadmin");
  return "reader";
}

export function parseGrant(faults: Faults, given: string): TableGrant {
  const grant = TABLE_GRANTS.find((each) => each === given);
  if (!grant) note(faults, "/right", `one of ${TABLE_GRANTS.join(", ")}`);
  return grant ?? "read";
}

export function parseFilter(faults: Faults, filter: RowFilter | undefined): NewFilter {
  if (!filter) note(faults, "/filter", "a filter is required");
  const { name = "", appliesTo = "", column = "", operator = "", values = [] } = filter ?? {};
  if (filter) faults.push(...filterFaults({ name, appliesTo, column, operator, values }));
  return { name, appliesTo, column, operator: isOperator(operator) ? operator : "=", values };
}

export function parseMask(faults: Faults, given: ColumnMask | undefined): NewMask {
  if (!given) note(faults, "/mask", "a mask is required");
  const { column = "", appliesTo = "", mask = "" } = given ?? {};
  if (given) {
    if (column === "") note(faults, "/mask/column", "a column is required");
    note(faults, "/mask/applies_to", appliesToFault(appliesTo));
    if (!isMask(mask)) note(faults, "/mask/mask", `one of ${MASKS.join(", ")}`);
  }
  return { column, appliesTo, mask: isMask(mask) ? mask : "null" };
}

export function parseNewKey(faults: Faults, request: CreateApiKeyRequest): NewApiKey {
  const { name, roles, expiresInDays: days } = request;
  if (name.trim() === "" || name.length > MAX_KEY_NAME || UNFIT_FOR_NAME.test(name)) {
    note(faults, "/name", `what it is for, in 1 to ${MAX_KEY_NAME} characters on one line`);
  }
  if (days < 0 || days > MAX_KEY_DAYS) {
    note(faults, "/expires_in_days", `1 to ${MAX_KEY_DAYS}, or 0 for ${USUAL_KEY_DAYS}`);
  }
  const parsed = roles.map((role, index) => parseRole(faults, `/roles/${index}`, role));
  return { name: name.trim(), roles: [...new Set(parsed)], days: days || USUAL_KEY_DAYS };
}
