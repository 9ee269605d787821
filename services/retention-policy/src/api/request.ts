import { invalid, isId } from "@lapse/kit";

const LARGEST_BATCH = 1_000;

/**
 * An id of a request, in lower case.
 *
 * @throws invalid `ID_INVALID`
 */
export function parseId(field: string, id: string): string {
  if (!isId(id)) {
    throw invalid("ID_INVALID", `${field} must be a UUID`, {
      violations: [{ field: `/${field}`, description: "must be a UUID" }],
    });
  }
  return id.toLowerCase();
}

/**
 * Ids of a request, at most 1,000.
 *
 * @throws invalid `BATCH_TOO_LARGE`, `ID_INVALID`
 */
export function parseIds(field: string, ids: readonly string[]): string[] {
  if (ids.length > LARGEST_BATCH) {
    throw invalid("BATCH_TOO_LARGE", `${field} takes ${LARGEST_BATCH} ids at most; ask in parts`);
  }
  return ids.map((id, index) => parseId(`${field}/${index}`, id));
}

/**
 * A version that the catalog gave out.
 *
 * @throws invalid `VERSION_INVALID` for 0, which stands for none, and for what no counter reaches
 */
export function parseVersion(field: string, version: bigint): bigint {
  if (version < 1n || version >= 2n ** 63n) {
    throw invalid("VERSION_INVALID", `${field} must be a version that the catalog gave out`);
  }
  return version;
}
