import { LapseInputError } from "./errors.ts";
import { environmentUrl, pathPart } from "./path-part.ts";

/** `bronze.trial` → namespace `bronze`, name `trial`; the last dot divides. */
export type TablePath = { readonly namespace: string; readonly name: string };

/** Reads a dotted table name. Throws a {@link LapseInputError} when there is no namespace in it. */
export function parseTablePath(text: string): TablePath {
  const dot = text.lastIndexOf(".");
  if (dot <= 0 || dot === text.length - 1) {
    throw new LapseInputError(
      `"${text}" is not a table name: write the namespace and the name with a dot between, e.g. bronze.trial.`,
    );
  }
  return { namespace: text.slice(0, dot), name: text.slice(dot + 1) };
}

/** The REST path of a namespace's tables. */
export const tablesUrl = (environment: string, namespace: string): string =>
  `${environmentUrl(environment)}/namespaces/${pathPart(namespace)}/tables`;

/** The REST path of a table by name. */
export function tableUrl(environment: string, table: string): string {
  const { namespace, name } = parseTablePath(table);
  return `${tablesUrl(environment, namespace)}/${pathPart(name)}`;
}
