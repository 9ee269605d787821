import { afterAll, beforeAll, describe, jest } from "@jest/globals";
import { describeBuckets } from "./contract/buckets.ts";
import { describeConditions } from "./contract/conditions.ts";
import { describeDeletePrefix } from "./contract/delete-prefix.ts";
import { describeKeys } from "./contract/keys.ts";
import { describeListing } from "./contract/listing.ts";
import { describeModel } from "./contract/model.ts";
import { describeObjects } from "./contract/objects.ts";
import type { ContractSubject, Scene } from "./contract/scene.ts";
import { sceneOf } from "./contract/scene.ts";

export type { ContractSubject } from "./contract/scene.ts";

/** For a store over the network, or on a machine that is busy. */
const SLOWEST_TEST_MS = 60_000;

/**
 * Declares the tests that every object store passes, for Jest. Call it at the top level of a test
 * file.
 *
 * @param name Of the adapter, for the titles.
 * @param makeSubject Opens a store for the suite; its buckets are made by the tests, with names that
 *   start with `contract-`.
 */
export function objectStoreContract(
  name: string,
  makeSubject: () => Promise<ContractSubject>,
): void {
  jest.setTimeout(SLOWEST_TEST_MS);
  describe(`object store contract: ${name}`, () => {
    let subject: ContractSubject;
    beforeAll(async () => {
      subject = await makeSubject();
    });
    afterAll(async () => {
      await subject.dispose();
    });
    const scene = async (): Promise<Scene> => sceneOf(subject);

    describeBuckets(scene);
    describeObjects(scene);
    describeConditions(scene);
    describeKeys(scene);
    describeListing(scene);
    describeDeletePrefix(scene);
    describeModel(scene);
  });
}
