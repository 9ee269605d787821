/** The tenant of a name that gives none: the one of the embedded stack. */
const DEFAULT_TENANT = "local";

/** A table as a person names it (T14). */
export interface TableName {
  readonly tenant: string;
  readonly environment: string;
  /** Dotted path. */
  readonly namespace: string;
  readonly name: string;
}

/**
 * `bronze.raw.trial` is the table `trial` in `bronze.raw`. Null where a part is missing or cannot be in a
 * name at all.
 */
export function parseTableName(given: {
  readonly tenant: string;
  readonly environment: string;
  readonly name: string;
}): TableName | null {
  // The catalog stores names in this form, whichever way their accents were typed.
  const path = given.name.normalize("NFC");
  const dot = path.lastIndexOf(".");
  const parsed = {
    tenant: given.tenant || DEFAULT_TENANT,
    environment: given.environment,
    namespace: path.slice(0, Math.max(dot, 0)),
    name: path.slice(dot + 1),
  };
  const complete = Object.values(parsed).every((part) => part !== "" && !part.includes("\0"));
  return complete ? parsed : null;
}

/** The name as one string; two different names never share it. */
export function nameKey({ tenant, environment, namespace, name }: TableName): string {
  return `${tenant}\0${environment}\0${namespace}\0${name}`;
}
