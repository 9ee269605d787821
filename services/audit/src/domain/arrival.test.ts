import { describe, expect, test } from "@jest/globals";
import { aDecision } from "../../test/lab/a-decision.ts";
import { sortArrived } from "./arrival.ts";

const from = (source: string, sourceSequence: bigint | null) =>
  aDecision({ source, sourceSequence });

describe("sortArrived", () => {
  test("puts each source's decisions in the order it numbered them", () => {
    const a2 = from("a", 2n);
    const a10 = from("a", 10n);
    const b1 = from("b", 1n);
    expect(sortArrived([b1, a10, a2], []).fresh).toEqual([a2, a10, b1]);
  });

  test("keeps the order of arrival where the source gives no numbers", () => {
    const [first, second] = [from("a", null), from("a", null)];
    expect(sortArrived([first, second], []).fresh).toEqual([first, second]);
  });

  test("takes a decision once, be it delivered twice in a batch or in the log already", () => {
    const [known, twice] = [from("a", 1n), from("a", 2n)];
    expect(sortArrived([twice, known, twice], [known])).toEqual({ fresh: [twice], misused: [] });
  });

  test("takes it once as well when its source has numbered it anew, as after a restored backup", () => {
    const known = from("a", 7n);
    const renumbered = { ...known, sourceSequence: 3n };
    expect(sortArrived([renumbered], [known])).toEqual({ fresh: [], misused: [] });
  });

  test("a second use of an id by another decision is told, and the first stands", () => {
    const first = from("a", 1n);
    const second = { ...first, sourceSequence: 2n, actor: "mallory" };
    const third = { ...first, source: "b" };
    expect(sortArrived([third, second], [first])).toEqual({ fresh: [], misused: [second, third] });
    expect(sortArrived([second, first], [])).toEqual({ fresh: [first], misused: [second] });
  });
});
