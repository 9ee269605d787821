import { type FieldViolation, invalid, isId } from "@lapse/kit";
import type {
  EnvironmentRef as EnvironmentRefMessage,
  QualifiedName,
  TableRef as TableRefMessage,
} from "@lapse/proto/catalog";
import type { EnvironmentRef } from "../app/find-environment.ts";
import type { TableRef } from "../app/find-table.ts";
import {
  environmentNameFault,
  namespaceFault,
  normaliseName,
  tableNameFault,
} from "../domain/names.ts";

/** Where the parts of a request note what is wrong with them, so that a caller learns everything at once. */
export type Faults = FieldViolation[];

/**
 * What `parse` makes of a request, if it noted no fault.
 *
 * @throws invalid `REQUEST_INVALID` with every fault.
 */
export function parsed<T>(parse: (faults: Faults) => T): T {
  const faults: Faults = [];
  const value = parse(faults);
  const [first] = faults;
  if (!first) return value;
  const more = faults.length > 1 ? `, and ${faults.length - 1} more` : "";
  throw invalid("REQUEST_INVALID", `${first.field}: ${first.description}${more}`, {
    violations: faults,
  });
}

/** Notes `fault` for `field`, if there is one. */
export function note(faults: Faults, field: string, fault: string | undefined): void {
  if (fault !== undefined) faults.push({ field, description: fault });
}

export function parseId(faults: Faults, field: string, id: string): string {
  if (!isId(id)) note(faults, field, "a UUID is required");
  return id;
}

export function parseEnvironmentName(faults: Faults, field: string, name: string): string {
  note(faults, field, environmentNameFault(name));
  return name;
}

export function parseTableName(faults: Faults, field: string, given: string): string {
  const name = normaliseName(given);
  note(faults, field, tableNameFault(name));
  return name;
}

export function parseNamespace(faults: Faults, field: string, given: string): string {
  const namespace = normaliseName(given);
  note(faults, field, namespaceFault(namespace));
  return namespace;
}

export function parseQualifiedName(faults: Faults, field: string, name: QualifiedName | undefined) {
  if (!name) note(faults, field, "environment, namespace and name are required");
  return {
    environment: name ? parseEnvironmentName(faults, `${field}/environment`, name.environment) : "",
    namespace: name ? parseNamespace(faults, `${field}/namespace`, name.namespace) : "",
    name: name ? parseTableName(faults, `${field}/name`, name.name) : "",
  };
}

export function parseTableRef(
  faults: Faults,
  ref: TableRefMessage | undefined,
  field = "/table",
): TableRef {
  switch (ref?.ref.case) {
    case "tableId":
      return { kind: "id", tableId: parseId(faults, `${field}/table_id`, ref.ref.value) };
    case "name":
      return { kind: "name", ...parseQualifiedName(faults, `${field}/name`, ref.ref.value) };
    case undefined:
      note(faults, field, "a table's id, or its environment, namespace and name, is required");
      return { kind: "id", tableId: "" };
  }
}

const MAX_REFS = 1_000;

export function parseTableRefs(faults: Faults, refs: readonly TableRefMessage[]): TableRef[] {
  if (refs.length > MAX_REFS) {
    note(faults, "/tables", `at most ${MAX_REFS} at once`);
    return [];
  }
  return refs.map((ref, index) => parseTableRef(faults, ref, `/tables/${index}`));
}

export function parseEnvironmentRef(
  faults: Faults,
  ref: EnvironmentRefMessage | undefined,
): EnvironmentRef {
  switch (ref?.ref.case) {
    case "environmentId": {
      const environmentId = parseId(faults, "/environment/environment_id", ref.ref.value);
      return { kind: "id", environmentId };
    }
    case "name":
      return {
        kind: "name",
        name: parseEnvironmentName(faults, "/environment/name", ref.ref.value),
      };
    case undefined:
      note(faults, "/environment", "an environment's id or name is required");
      return { kind: "id", environmentId: "" };
  }
}
