import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { isRecent, natsServerBinary } from "./nats-install.ts";

test.each([
  ["nats-server: v2.9.10", true],
  ["nats-server: v2.11.4", true],
  ["nats-server: v3.0.0-beta.1", true],
  ["nats-server: v2.8.4", false],
  ["nats-server: v1.4.1", false],
  ["command not found", false],
])("%s is recent enough: %s", (printed, answer) => {
  expect(isRecent(printed)).toBe(answer);
});

test("a server that is too old is named", async () => {
  const dir = await mkdtemp(join(tmpdir(), "lapse-nats-"));
  const old = join(dir, "nats-server");
  await writeFile(old, "#!/bin/sh\necho nats-server: v2.8.4\n");
  await chmod(old, 0o755);
  const search = natsServerBinary({ path: dir });
  await expect(search).rejects.toThrow(`${old} is nats-server: v2.8.4; Lapse needs 2.9 or later.`);
  await rm(dir, { recursive: true });
});
