import { isId } from "@lapse/kit";
import type { DueCursor, DuePlace, DueSource } from "../domain/due-order.ts";
import { advance } from "../domain/due-order.ts";
import type { Faults } from "./parse.ts";

/** How far each order of an environment's tables has been listed, as an opaque text; "" at the end. */
export function writeDueCursor(cursor: DueCursor | null): string {
  if (cursor === null) {
    return "";
  }
  const places = [...cursor.values()].map(({ source, at, tableId }) => [
    source,
    at.getTime(),
    tableId,
  ]);
  return Buffer.from(JSON.stringify(places)).toString("base64url");
}

/** The cursor in `text`, which stands for places in this environment whatever it was written for. */
export function readDueCursor(faults: Faults, text: string, environmentId: string): DueCursor {
  if (text === "") {
    return new Map();
  }
  const places = parsePlaces(text, environmentId);
  if (places === null) {
    faults.push({
      field: "/cursor",
      description: "must be the next_cursor of the page before, or empty",
    });
  }
  return advance(new Map(), places ?? []);
}

function parsePlaces(text: string, environmentId: string): DuePlace[] | null {
  const written = parseJson(Buffer.from(text, "base64url").toString());
  if (!Array.isArray(written) || written.length > 2) {
    return null;
  }
  const places: DuePlace[] = [];
  for (const part of written) {
    const place = parsePlace(part, environmentId);
    if (place === null) {
      return null;
    }
    places.push(place);
  }
  return places;
}

function parsePlace(part: unknown, environmentId: string): DuePlace | null {
  if (!Array.isArray(part) || part.length !== 3) {
    return null;
  }
  const [source, ms, tableId]: unknown[] = part;
  const at = new Date(typeof ms === "number" ? ms : Number.NaN);
  if (!isSource(source) || typeof tableId !== "string" || !isId(tableId) || !isStorable(at)) {
    return null;
  }
  return { environmentId, source, at, tableId };
}

const isSource = (value: unknown): value is DueSource =>
  value === "table" || value === "environment";

/** In the years that both a Date and a database can hold and write alike. */
const isStorable = (at: Date): boolean => {
  const year = at.getUTCFullYear();
  return year >= 1 && year <= 9_999;
};

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not one of ours, and reported as that.
    return null;
  }
}
