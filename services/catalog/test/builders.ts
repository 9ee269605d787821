import type { DueConfirmation, DueTable, ExpiredRetention } from "../src/domain/due.ts";
import type { Environment } from "../src/domain/environment.ts";
import type { Hold } from "../src/domain/hold.ts";
import { type Drop, NO_CONTENTS, type Table } from "../src/domain/table.ts";

export const NOW = new Date("2026-06-15T12:00:00.000Z");
export const DAY_MS = 86_400_000;
export const daysBefore = (days: number, at = NOW): Date => new Date(at.getTime() - days * DAY_MS);

export const anEnvironment = (patch: Partial<Environment> = {}): Environment => ({
  environmentId: "01900000-0000-7000-8000-00000000e001",
  tenant: "local",
  name: "dev",
  protected: false,
  changeVersion: 4n,
  policyVersion: 3n,
  tableBucket: "local--dev",
  createdBy: "ana",
  createdAt: daysBefore(100),
  ...patch,
});

export const aTable = (patch: Partial<Table> = {}): Table => ({
  tableId: "01900000-0000-7000-8000-00000000a001",
  tenant: "local",
  environmentId: anEnvironment().environmentId,
  namespace: "bronze",
  name: "trial",
  kind: "managed",
  state: "live",
  owner: "ana",
  description: "",
  columns: [{ name: "id", type: "BIGINT", required: true }],
  location: { bucket: "local--dev", keyPrefix: "dev/01900000-0000-7000-8000-00000000a001/" },
  changeVersion: 7n,
  retentionVersion: 5n,
  projectAsset: false,
  assetOf: "",
  contents: {
    ...NO_CONTENTS,
    snapshotId: "01900000-0000-7000-8000-00000000b001",
    snapshotSequence: 1n,
    rowCount: 10n,
    byteSize: 100n,
    fileCount: 1,
  },
  createdAt: daysBefore(60),
  lastChangedAt: daysBefore(40),
  restoredAt: null,
  drop: null,
  purgedAt: null,
  ...patch,
});

export const aDrop = (patch: Partial<Drop> = {}): Drop => ({
  at: daysBefore(1),
  by: null,
  reason: "retention",
  undoUntil: daysBefore(-6),
  ...patch,
});

export const aHold = (patch: Partial<Hold> = {}): Hold => ({
  holdId: "01900000-0000-7000-8000-00000000c001",
  tableId: aTable().tableId,
  tenant: "local",
  kind: "write",
  holder: "ben",
  createdAt: NOW,
  expiresAt: new Date(NOW.getTime() + 3_600_000),
  ...patch,
});

export const anExpiredRetention = (patch: Partial<ExpiredRetention> = {}): ExpiredRetention => ({
  source: "table",
  rule: { kind: "days", days: 30 },
  setBy: "ana",
  lastActivityAt: daysBefore(40),
  expiredAt: daysBefore(10),
  ...patch,
});

/** A due event that agrees with {@link aTable} and {@link anEnvironment}. */
export const aDue = (patch: Partial<DueTable> = {}): DueTable => ({
  tableId: aTable().tableId,
  tenant: "local",
  environmentId: anEnvironment().environmentId,
  sweepId: "01900000-0000-7000-8000-00000000d001",
  changeVersion: aTable().changeVersion,
  retentionVersion: aTable().retentionVersion,
  policyVersion: anEnvironment().policyVersion,
  issuedAt: new Date(NOW.getTime() - 1_000),
  ...patch,
});

export const aConfirmation = (patch: Partial<DueConfirmation> = {}): DueConfirmation => ({
  due: true,
  seen: { changeVersion: 7n, retentionVersion: 5n, policyVersion: 3n },
  retention: anExpiredRetention(),
  ...patch,
});
