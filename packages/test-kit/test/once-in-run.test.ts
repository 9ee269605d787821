import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { onceInRun } from "../src/once-in-run.ts";
import { runDirectory } from "../src/run-directory.ts";

test("what is made once in a run is shared by all who ask for it", async () => {
  let made = 0;
  const make = async () => ++made;
  const answers = await Promise.all(
    ["a", "a", "b"].map((name) => onceInRun(`shared-${name}`, make)),
  );
  expect(answers.toSorted()).toEqual([1, 1, 2]);
});

test("what could not be made is tried again by the next", async () => {
  const failing = onceInRun("failing", () => Promise.reject(new Error("no disk")));
  await expect(failing).rejects.toThrow("no disk");
  expect(await onceInRun("failing", async () => "made")).toBe("made");
});

test("a maker that was killed does not keep the others waiting", async () => {
  const lock = join(runDirectory(), "abandoned.json.lock");
  await writeFile(lock, JSON.stringify({ pid: process.pid, identity: "of an earlier process" }));
  expect(await onceInRun("abandoned", async () => "made")).toBe("made");
});
