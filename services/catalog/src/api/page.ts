import { isId } from "@lapse/kit";
import type { FileCursor } from "../app/read-table-files.ts";
import type { EnvironmentCursor } from "../store/environments.ts";
import type { BindingCursor } from "../store/roles.ts";
import type { DroppedCursor, LiveCursor } from "../store/table-lists.ts";
import { type Faults, note } from "./parse.ts";

const LIMITS = { most: 1_000, usual: 100 };

export function parseLimit(faults: Faults, limit: number, { most, usual } = LIMITS): number {
  if (limit < 0 || limit > most) note(faults, "/limit", `1 to ${most}, or 0 for ${usual}`);
  return limit || usual;
}

/** How the place where a page ends becomes an opaque text, and back. */
interface Cursor<T> {
  write(after: T): string;
  /** Undefined for the first page. */
  read(faults: Faults, text: string): T | undefined;
}

/** `kind` keeps a cursor of one list from being used for another. */
function cursor<T>(
  kind: string,
  toParts: (after: T) => readonly [string, string],
  fromParts: (first: string, second: string) => T | undefined,
): Cursor<T> {
  return {
    write: (after) => Buffer.from(JSON.stringify([kind, ...toParts(after)])).toString("base64url"),
    read(faults, text) {
      if (text === "") return undefined;
      const parts = textParts(text);
      const after =
        parts?.[0] === kind && parts.length === 3
          ? fromParts(parts[1] ?? "", parts[2] ?? "")
          : undefined;
      if (!after) note(faults, "/cursor", "next_cursor of the page before is required, or nothing");
      return after;
    },
  };
}

function textParts(text: string): string[] | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    const isText = (part: unknown) => typeof part === "string" && !part.includes("\0");
    return Array.isArray(value) && value.every(isText) ? value : undefined;
  } catch {
    // No JSON: it is not a cursor of ours, and is reported as that.
    return undefined;
  }
}

export const environmentCursor: Cursor<EnvironmentCursor> = cursor(
  "environment",
  ({ tenant, name }) => [tenant, name],
  (tenant, name) => ({ tenant, name }),
);

/** For lists in the order of one text: namespaces by path, projects by name. */
const textCursor = (kind: string): Cursor<string> =>
  cursor(
    kind,
    (after) => [after, ""],
    (after) => after || undefined,
  );

export const namespaceCursor = textCursor("namespace");
export const projectCursor = textCursor("project");

export const liveCursor: Cursor<LiveCursor> = cursor(
  "live",
  ({ namespace, name }) => [namespace, name],
  (namespace, name) => ({ namespace, name }),
);

export const droppedCursor: Cursor<DroppedCursor> = cursor(
  "dropped",
  ({ droppedAt, tableId }) => [droppedAt.toISOString(), tableId],
  (at, tableId) => {
    const droppedAt = new Date(at);
    return Number.isNaN(droppedAt.getTime()) || !isId(tableId) ? undefined : { droppedAt, tableId };
  },
);

export const fileCursor: Cursor<FileCursor> = cursor(
  "file",
  ({ snapshotId, path }) => [snapshotId, path],
  (snapshotId, path) => (isId(snapshotId) ? { snapshotId, path } : undefined),
);

export const keyCursor: Cursor<string> = cursor(
  "key",
  (keyId) => [keyId, ""],
  (keyId) => (isId(keyId) ? keyId : undefined),
);

/** No role has a slash. */
export const bindingCursor: Cursor<BindingCursor> = cursor(
  "role",
  ({ subject, role, environmentId }) => [subject, `${role}/${environmentId ?? ""}`],
  (subject, place) => {
    const [role = "", id = ""] = place.split("/");
    if (id !== "" && !isId(id)) return undefined;
    return { subject, role, environmentId: id === "" ? null : id };
  },
);

/** A message has at most 4 MiB, and the last row of a page may take one of them. */
const PAGE_BYTES = 1024 * 1024;

/**
 * Of `limit + 1` rows asked for: the page, and its cursor when there is more. A page ends before its limit where its rows
 * are large.
 */
export function pageOf<T>(
  rows: readonly T[],
  limit: number,
  cursorOf: (last: T) => string,
  bytesOf: (row: T) => number = () => 0,
): { items: readonly T[]; nextCursor: string } {
  let bytes = 0;
  const fitting = rows.findIndex((row) => {
    bytes += bytesOf(row);
    return bytes > PAGE_BYTES;
  });
  const items = rows.slice(0, fitting === -1 ? limit : Math.min(limit, fitting + 1));
  const last = items.at(-1);
  return {
    items,
    nextCursor: last !== undefined && rows.length > items.length ? cursorOf(last) : "",
  };
}
