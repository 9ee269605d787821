import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";

/** Of an answer, in ms. */
export const ms = (at: Timestamp | undefined): number =>
  at ? timestampDate(at).getTime() : Number.NaN;
