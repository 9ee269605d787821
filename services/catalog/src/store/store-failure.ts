import { type LapseError, toLapseError, unavailable } from "@lapse/kit";
import { ObjectStoreError } from "@lapse/object-store";

/**
 * What a failure of the object store means to a caller. Only a store that cannot be used now is transient; what it
 * refuses as malformed is a fault of ours, since every name was checked before.
 */
export function storeFailure(error: unknown): LapseError {
  if (!(error instanceof ObjectStoreError)) return toLapseError(error);
  switch (error.kind) {
    case "unavailable":
      return unavailable(
        "OBJECT_STORE_UNAVAILABLE",
        "the object store cannot be used at the moment; repeat the call",
        { cause: error },
      );
    // Objects are asked for by `head`, which does not throw for a missing one: what is not found is the bucket.
    case "not_found":
      return unavailable(
        "OBJECT_STORE_BUCKET_MISSING",
        "the object store does not have the bucket of this environment; restore it, then repeat the call",
        { cause: error },
      );
    case "precondition":
    case "invalid":
      return toLapseError(error);
  }
}
