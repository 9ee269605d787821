import { describe, expect, test } from "@jest/globals";
import { Wakeup } from "./wakeup.ts";

describe("Wakeup", () => {
  test("ends a sleep", async () => {
    const wakeup = new Wakeup();
    const sleeping = wakeup.sleep(60_000);
    wakeup.wake();
    await sleeping;
  });

  test("counts for the next sleep when nobody sleeps, once", async () => {
    const wakeup = new Wakeup();
    wakeup.wake();
    wakeup.wake();
    await wakeup.sleep(60_000);
    let over = false;
    const second = wakeup.sleep(60_000).then(() => {
      over = true;
    });
    await Promise.resolve();
    expect(over).toBe(false);
    wakeup.wake();
    await second;
  });

  test("sleeps no longer than told", async () => {
    await new Wakeup().sleep(1);
  });
});
