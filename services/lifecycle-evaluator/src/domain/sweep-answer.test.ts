import { describe, expect, test } from "@jest/globals";
import { firstAnswers, keptOutcome, type SweepAnswer } from "./sweep-answer.ts";

const answer = (tableId: string, outcome: SweepAnswer["outcome"], reason = ""): SweepAnswer => ({
  sweepId: "s",
  tableId,
  outcome,
  reason,
});

describe("firstAnswers", () => {
  test("a due event that is delivered twice is answered twice: the first answer counts", () => {
    const answers = [
      answer("b", "dropped"),
      answer("a", "kept", "held"),
      answer("b", "kept", "already_dropped"),
    ];
    expect(firstAnswers(answers)).toEqual([answer("a", "kept", "held"), answer("b", "dropped")]);
  });
});

describe("keptOutcome", () => {
  test("T25 a table the catalog failed on counts as failed, any other as kept", () => {
    expect(keptOutcome("failed")).toBe("failed");
    expect(keptOutcome("held")).toBe("kept");
  });
});
