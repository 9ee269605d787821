// One folder per test run, and a guard that ends what was started in it. Plain JavaScript, because
// Jest loads it untranspiled. Costs nothing until a test asks for a server.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

let guard;

/** Makes the run's folder (TEST_RUN_DIR, inherited by Jest's workers) and starts its guard. */
export async function startRun() {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "lapse-test-")));
  // Others may pass through: where root runs the tests, PostgreSQL is another user.
  await chmod(folder, 0o711);
  process.env.TEST_RUN_DIR = folder;
  guard = spawn(
    process.execPath,
    [fileURLToPath(new URL("./guard.mjs", import.meta.url)), folder],
    {
      // In a group of its own, so that Ctrl-C does not end the guard before its work; it learns of our
      // end, whatever its cause, by the end of its standard input.
      detached: true,
      stdio: ["pipe", "ignore", "inherit"],
    },
  );
  guard.unref();
  guard.stdin.unref?.();
}

/** Ends every server of the run and removes its folder; resolves when that is done. */
export async function endRun() {
  if (guard === undefined) return;
  guard.ref();
  const ended = once(guard, "exit");
  guard.stdin.end();
  await ended;
  guard = undefined;
}
