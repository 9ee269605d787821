import { describe, expect, test } from "@jest/globals";
import { anEnvironment } from "../../test/builders.ts";
import { deleteEnvironment, protectEnvironment, touchEnvironment } from "./environment.ts";

describe("protectEnvironment", () => {
  test("T19 moves the change version and leaves the policy version", () => {
    expect(protectEnvironment(anEnvironment(), true)).toEqual(
      anEnvironment({ protected: true, changeVersion: 5n }),
    );
  });

  test("is the same environment when nothing changes", () => {
    const environment = anEnvironment();
    expect(protectEnvironment(environment, false)).toBe(environment);
  });
});

describe("touchEnvironment", () => {
  test("T7 moves both versions to the same number", () => {
    expect(touchEnvironment(anEnvironment())).toEqual(
      anEnvironment({ changeVersion: 5n, policyVersion: 5n }),
    );
  });
});

describe("deleteEnvironment", () => {
  test("T31 moves the change version a last time, above every version of its rule", () => {
    expect(deleteEnvironment(anEnvironment())).toEqual(anEnvironment({ changeVersion: 5n }));
  });
});
