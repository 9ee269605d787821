import type { Delivery } from "@lapse/kit";
import type { StreamFold } from "./stream-fold.ts";

/** What a fold needs in order to read its messages as they come in, while the batch before them is stored. */
export interface ReadAhead<M> {
  /** The same fold; what is read already is not read again. */
  readonly fold: StreamFold<M>;
  /** Reads these now. */
  onPulled(deliveries: readonly Delivery[]): void;
}

type Reading<M> = { readonly message: M | null } | { readonly error: unknown };

/** Reading is most of what this process does for a message, and needs no transaction. */
export function readAhead<M>(fold: StreamFold<M>): ReadAhead<M> {
  const readings = new WeakMap<Delivery, Reading<M>>();
  const read = (delivery: Delivery): Reading<M> => {
    try {
      return { message: fold.read(delivery) };
    } catch (error) {
      return { error };
    }
  };
  return {
    fold: {
      ...fold,
      read(delivery) {
        const reading = readings.get(delivery) ?? read(delivery);
        if ("error" in reading) throw reading.error;
        return reading.message;
      },
    },
    onPulled(deliveries) {
      for (const delivery of deliveries) readings.set(delivery, read(delivery));
    },
  };
}
