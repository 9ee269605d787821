export type { DeletePrefixOptions, DeletePrefixResult } from "./delete-prefix.ts";
export { deletePrefix } from "./delete-prefix.ts";
export type { ObjectStoreErrorKind } from "./errors.ts";
export { ObjectStoreError } from "./errors.ts";
export { checkBucket, checkKey, checkPrefix, compareKeys } from "./object-key.ts";
export type {
  ByteRange,
  DeleteOptions,
  GetOptions,
  KeyRange,
  ListOptions,
  ObjectBody,
  ObjectContent,
  ObjectPage,
  ObjectStat,
  ObjectStore,
  PutOptions,
  PutResult,
} from "./object-store.ts";
export type { ObjectStoreSettings } from "./open.ts";
export { openObjectStore } from "./open.ts";
