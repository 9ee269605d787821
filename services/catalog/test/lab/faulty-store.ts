import type { ObjectStore } from "@lapse/object-store";

type Verb = Exclude<keyof ObjectStore, "uri" | "close" | "walk">;

/** What happens before a verb reaches the store: nothing, a wait, or a failure thrown. */
type Interference = (verb: Verb, bucket: string, key: string) => void | Promise<void>;

export interface FaultyStore extends ObjectStore {
  /** Replaces what happens before each verb; without an argument the store works again. */
  interfere(with_?: Interference): void;
}

/** A store whose calls a test can hold up or let fail. */
export function faultyStore(store: ObjectStore): FaultyStore {
  let before: Interference = () => undefined;
  const through =
    <V extends Verb>(verb: V) =>
    async (bucket: string, key: unknown, ...rest: unknown[]) => {
      await before(verb, bucket, typeof key === "string" ? key : "");
      const call = store[verb] as (...args: unknown[]) => Promise<unknown>;
      return call.call(store, bucket, key, ...rest);
    };
  const verbs: readonly Verb[] = [
    "createBucket",
    "deleteBucket",
    "bucketExists",
    "put",
    "get",
    "head",
    "list",
    "delete",
  ];
  // Each verb has the type of the store's own: only the call is passed through.
  const passed = Object.fromEntries(verbs.map((verb) => [verb, through(verb)])) as unknown as Pick<
    ObjectStore,
    Verb
  >;
  return {
    ...passed,
    walk: (bucket, range) => store.walk(bucket, range),
    uri: (bucket, key) => store.uri(bucket, key),
    close: () => store.close(),
    interfere(with_) {
      before = with_ ?? (() => undefined);
    },
  };
}
