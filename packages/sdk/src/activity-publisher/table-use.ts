import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { TableActivitySchema } from "@lapse/proto/events";
import { LapseInputError } from "../errors.ts";
import { parseTablePath } from "../table-path.ts";

/** What happened to a table; also the last word of the subject it is published on. */
export type UseKind = "read" | "written" | "maintained" | "changed";

/**
 * Something used a table. The table is given by its id, or by name; the id is better: a name goes to whichever table
 * has it when the event is read.
 */
export type TableUse = {
  /** When it happened. Absent: now. More than five minutes ahead of Lapse's clock, it counts as now there. */
  readonly occurredAt?: Date;
  /** Who used it, where known: a subject. Kept nowhere but in the message. */
  readonly actor?: string;
} & (
  | { readonly tableId: string }
  | {
      readonly environment: string;
      /** Dotted name, e.g. `bronze.trial`. */
      readonly table: string;
      /** Absent: the tenant `local`. */
      readonly tenant?: string;
    }
);

/** The years 1 to 9999, which are those that a timestamp can say. */
const EARLIEST_MS = -62_135_596_800_000;
const LATEST_MS = 253_402_300_799_999;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const LONGEST = 2_000;
/** NUL, and half of a character: no database stores either. */
const UNFIT = /\0|\p{Surrogate}/u;

/** A use that can be sent. */
export type CheckedUse = {
  readonly occurredAt: Date;
  /** The same for uses of the same table by the same actor. */
  readonly key: string;
  readonly table: { readonly tableId: string } | { readonly table: TableName };
  readonly actor: string;
};

type TableName = { readonly tenant: string; readonly environment: string; readonly name: string };

/**
 * Checks a use before it goes to a stream that answers nothing: what could not be understood there is refused here.
 *
 * @throws {LapseInputError}
 */
export function checkUse(use: TableUse, now: Date): CheckedUse {
  const { occurredAt = now, actor = "" } = use;
  const at = occurredAt.getTime();
  if (!(at >= EARLIEST_MS && at <= LATEST_MS)) throw new LapseInputError("occurredAt is no time.");
  const table = tableOf(use);
  checkText("actor", actor);
  return { occurredAt: new Date(at), key: JSON.stringify([table, actor]), table, actor };
}

function tableOf(use: TableUse): CheckedUse["table"] {
  if ("tableId" in use) {
    if (UUID.test(use.tableId)) return { tableId: use.tableId.toLowerCase() };
    throw new LapseInputError(`tableId is "${use.tableId}", which is not the id of a table.`);
  }
  const { tenant = "", environment, table } = use;
  parseTablePath(table);
  if (environment === "") throw new LapseInputError("environment is empty.");
  for (const [name, text] of Object.entries({ tenant, environment, table })) checkText(name, text);
  return { table: { tenant, environment, name: table } };
}

function checkText(name: string, text: string): void {
  if (text.length > LONGEST) throw new LapseInputError(`${name} is too long.`);
  if (UNFIT.test(text)) {
    throw new LapseInputError(`${name} holds what no text of Lapse can hold.`);
  }
}

/** A use as `lapse.events.v1.TableActivity`. Its source is that of the message. */
export function encodeUse({ occurredAt, table, actor }: CheckedUse): Uint8Array {
  const message = create(TableActivitySchema, {
    ...table,
    actor,
    occurredAt: timestampFromDate(occurredAt),
  });
  return toBinary(TableActivitySchema, message);
}
