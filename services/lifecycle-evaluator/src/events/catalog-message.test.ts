import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import type { Delivery } from "@lapse/kit";
import {
  EnvironmentDeletedSchema,
  TableChange,
  TableChangedSchema,
  TableCreatedSchema,
  TableDroppedSchema,
  TableKeptSchema,
  TableKind,
  TablePurgedSchema,
  TableRestoredSchema,
  TableState,
} from "@lapse/proto/events";
import { readCatalogMessage } from "./catalog-message.ts";

const ID = "0190a000-0000-7000-8000-00000000000a";
const OTHER = "0190a000-0000-7000-8000-00000000000b";
const CREATED = new Date("2026-01-01T00:00:00.000Z");
const CHANGED = new Date("2026-02-01T00:00:00.000Z");
const snapshot = {
  tableId: ID.toUpperCase(),
  tenant: "local",
  environmentId: OTHER,
  environment: "dev",
  namespace: "bronze",
  name: "trial",
  kind: TableKind.MANAGED,
  owner: "ana",
  state: TableState.LIVE,
  changeVersion: 4n,
  createdAt: timestampFromDate(CREATED),
  lastChangedAt: timestampFromDate(CHANGED),
};

function read<Desc extends DescMessage>(
  subject: string,
  schema: Desc,
  init: MessageInitShape<Desc>,
) {
  const message = create(schema, init);
  // Only what reading uses of a delivery.
  const delivery = { subject, decode: () => message } as unknown as Delivery;
  return readCatalogMessage(delivery);
}

describe("readCatalogMessage", () => {
  test("gives the table as it is now, its id in the one form that is stored", () => {
    const { table } = read("catalog.table.created", TableCreatedSchema, { table: snapshot }) ?? {};
    expect(table).toEqual({
      tableId: ID,
      tenant: "local",
      environmentId: OTHER,
      namespace: "bronze",
      name: "trial",
      kind: "managed",
      state: "live",
      owner: "ana",
      projectAsset: false,
      version: 4n,
      createdAt: CREATED,
      lastChangedAt: CHANGED,
      restoredAt: null,
    });
  });

  test.each([
    [TableChange.WRITTEN, "written"],
    [TableChange.MAINTAINED, "maintained"],
    [TableChange.DESCRIBED, "changed"],
    [TableChange.RENAMED, "changed"],
    [TableChange.TOUCHED, "changed"],
    // No activity: what it says of the last one was activity of a kind not known here.
    [TableChange.STATE, "changed"],
  ])("T13 a change (%s) counts as %s, when the catalog says it happened", (change, kind) => {
    const message = read("catalog.table.changed", TableChangedSchema, { table: snapshot, change });
    expect(message?.activities).toEqual([
      { tableId: ID, kind: "created", at: CREATED.getTime() },
      { tableId: ID, kind, at: CHANGED.getTime() },
    ]);
  });

  test("T28 a restore is activity", () => {
    const restoredAt = timestampFromDate(CHANGED);
    const message = read("catalog.table.restored", TableRestoredSchema, {
      table: { ...snapshot, restoredAt },
    });
    expect(message?.activities).toContainEqual({
      tableId: ID,
      kind: "restored",
      at: CHANGED.getTime(),
    });
    expect(message?.table?.restoredAt).toEqual(CHANGED);
  });

  test("a drop answers the sweep that found the table due; one by request answers none", () => {
    const table = { ...snapshot, state: TableState.DROPPED };
    const bySweep = read("catalog.table.dropped", TableDroppedSchema, { table, sweepId: OTHER });
    expect(bySweep?.answer).toEqual({
      sweepId: OTHER,
      tableId: ID,
      outcome: "dropped",
      reason: "",
    });
    expect(read("catalog.table.dropped", TableDroppedSchema, { table })?.answer).toBeUndefined();
  });

  test.each([
    ["held", "kept"],
    ["failed", "failed"],
  ])("a table kept because it is %s counts as %s", (reason, outcome) => {
    const message = read("catalog.table.kept", TableKeptSchema, {
      tableId: ID,
      sweepId: OTHER,
      reason,
    });
    expect(message).toEqual({ answer: { sweepId: OTHER, tableId: ID, outcome, reason } });
  });

  test("a purged table and a deleted environment are gone", () => {
    const purged = read("catalog.table.purged", TablePurgedSchema, {
      table: { ...snapshot, state: TableState.PURGED },
    });
    expect(purged?.table?.state).toBe("purged");
    const deleted = read("catalog.environment.deleted", EnvironmentDeletedSchema, {
      environment: { environmentId: OTHER, tenant: "local", name: "dev", changeVersion: 2n },
    });
    expect(deleted?.environment).toMatchObject({ environmentId: OTHER, deleted: true });
  });

  test("what is of no concern here is passed over", () => {
    expect(read("catalog.warehouse.created", TableCreatedSchema, {})).toBeNull();
  });

  test.each([
    ["no table", { table: undefined }],
    ["a malformed id", { table: { ...snapshot, tableId: "seven" } }],
    ["no environment", { table: { ...snapshot, environmentId: "" } }],
    ["no kind", { table: { ...snapshot, kind: TableKind.UNSPECIFIED } }],
    ["no state", { table: { ...snapshot, state: TableState.UNSPECIFIED } }],
    ["no version", { table: { ...snapshot, changeVersion: 0n } }],
    ["a version no database holds", { table: { ...snapshot, changeVersion: 2n ** 64n - 1n } }],
    ["no time of creation", { table: { ...snapshot, createdAt: undefined } }],
    [
      "a time no calendar has",
      { table: { ...snapshot, createdAt: { seconds: 10n ** 15n, nanos: 0 } } },
    ],
    ["a NUL in its name", { table: { ...snapshot, name: "a\0b" } }],
  ])("an event with %s cannot be used", (_what, init) => {
    const { table } = init;
    const message = table === undefined ? {} : { table: withoutUndefined(table) };
    expect(() => read("catalog.table.created", TableCreatedSchema, message)).toThrow(
      expect.objectContaining({ kind: "invalid", reason: "EVENT_UNUSABLE" }),
    );
  });
});

type Known<T> = { [K in keyof T]: Exclude<T[K], undefined> };

const withoutUndefined = <T extends object>(fields: T): Known<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Known<T>;
