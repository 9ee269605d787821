import { createHash } from "node:crypto";
import type { Environment } from "./environment.ts";
import type { Location } from "./table.ts";

const TENANT_HANDLE = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** What is wrong with a tenant's handle as part of a bucket's name, or undefined. */
export function tenantFault(tenant: string): string | undefined {
  if (TENANT_HANDLE.test(tenant)) return undefined;
  return "a tenant that keeps tables has a handle of 1 to 63 lower-case letters, digits and -, because it names its buckets";
}

const BUCKET = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/;
const SHORTENED = 52;

/**
 * The bucket of an environment's tables: `<tenant>--<environment>`. Where that is no bucket's name (an underscore, too
 * long) or could be split in two ways, it is made legal and told apart by a hash of both.
 */
export function tableBucket(tenant: string, environment: string): string {
  const plain = `${tenant}--${environment}`;
  const ambiguous = tenant.includes("--") || environment.includes("--");
  if (BUCKET.test(plain) && !ambiguous) return plain;
  const hash = createHash("sha256").update(`${tenant}/${environment}`).digest("hex").slice(0, 10);
  return `${plain.replaceAll("_", "-").slice(0, SHORTENED)}-${hash}`;
}

/** Where a table's files live. No other table can have it: it holds the table's id. */
export const tableLocation = (
  environment: Pick<Environment, "name" | "tableBucket">,
  tableId: string,
): Location => ({
  bucket: environment.tableBucket,
  keyPrefix: `${environment.name}/${tableId}/`,
});

/** The prefixes above one, outermost first: `a/b/c/` lies below `a/` and `a/b/`. */
export function prefixesAbove(keyPrefix: string): string[] {
  const segments = keyPrefix.split("/").slice(0, -2);
  return segments.map((_, index) => `${segments.slice(0, index + 1).join("/")}/`);
}

/** The first prefix, by bytes, that no longer begins with this one: `/` is followed by `0`. */
export const firstPrefixAfter = (keyPrefix: string): string => `${keyPrefix.slice(0, -1)}0`;
