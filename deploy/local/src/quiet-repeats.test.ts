import { expect, test } from "@jest/globals";
import { quietRepeats } from "./quiet-repeats.ts";

test("the same line is passed on once within the time, another at once", () => {
  let time = 0;
  const shown: string[] = [];
  const report = quietRepeats(
    (line) => shown.push(`${time} ${line}`),
    10,
    () => time,
  );
  for (time = 0; time <= 10; time += 5) {
    report("a");
    if (time === 5) report("b");
  }
  expect(shown).toEqual(["0 a", "5 b", "10 a"]);
});
