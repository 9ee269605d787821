import { timestampDate } from "@bufbuild/protobuf/wkt";
import type {
  Environment as EnvironmentMessage,
  Table as TableMessage,
} from "@lapse/proto/catalog";
import { TableKind as KindMessage, TableState as StateMessage } from "@lapse/proto/events";
import type { TableKind } from "@lapse/rules";
import type { Environment, Table, TableState } from "../domain/table.ts";

/** A table from the catalog's answer. Throws for one that lacks what a rule is decided by. */
export function toTable(message: TableMessage | undefined): Table {
  const { kind, state } = { kind: KINDS[message?.kind ?? 0], state: STATES[message?.state ?? 0] };
  if (!message?.lastChangedAt || kind === undefined || state === undefined) {
    throw new Error("the catalog answered with a table of no known kind, state or last change");
  }
  return {
    id: message.tableId,
    tenant: message.tenant,
    environmentId: message.environmentId,
    environment: message.environment,
    name: `${message.namespace}.${message.name}`,
    kind,
    state,
    owner: message.owner,
    rights: message.rights,
    environmentProtected: message.environmentProtected,
    projectAsset: message.projectAsset,
    lastChangedAt: timestampDate(message.lastChangedAt),
    restoredAt: message.restoredAt ? timestampDate(message.restoredAt) : null,
    changeVersion: message.changeVersion,
    retentionVersion: message.retentionVersion,
  };
}

/** An environment from the catalog's answer. Throws where there is none in it. */
export function toEnvironment(message: EnvironmentMessage | undefined): Environment {
  if (!message) {
    throw new Error("the catalog answered without the environment");
  }
  const { environmentId: id, tenant, name, rights, policyVersion } = message;
  return { id, tenant, name, rights, policyVersion };
}

const KINDS: Readonly<Record<number, TableKind>> = {
  [KindMessage.MANAGED]: "managed",
  [KindMessage.VIEW]: "view",
  [KindMessage.EXTERNAL]: "external",
  [KindMessage.ARTIFACT]: "artifact",
};

const STATES: Readonly<Record<number, TableState>> = {
  [StateMessage.STAGED]: "staged",
  [StateMessage.LIVE]: "live",
  [StateMessage.DROPPED]: "dropped",
  [StateMessage.PURGING]: "purging",
  [StateMessage.PURGED]: "purged",
};
