import { describe, expect, test } from "@jest/globals";
import { waitFor } from "./wait-for.ts";

describe("waitFor", () => {
  test("returns the first truthy answer", async () => {
    let asked = 0;
    const answer = await waitFor(() => (asked++ < 3 ? 0 : asked), { everyMs: 1 });
    expect(answer).toBe(4);
  });

  test("takes an error for not yet", async () => {
    let asked = 0;
    const condition = () => {
      if (asked++ < 2) throw new Error("not yet");
      return "there";
    };
    expect(await waitFor(condition, { everyMs: 1 })).toBe("there");
  });

  test("says what it waited for, and why it was not met", async () => {
    const waiting = waitFor(
      () => {
        throw new Error("no answer");
      },
      { timeoutMs: 5, everyMs: 1, message: () => "the server answers" },
    );
    await expect(waiting).rejects.toMatchObject({
      message: "waited 5 ms: the server answers",
      cause: { message: "no answer" },
    });
  });
});
