import { chmod, mkdtemp } from "node:fs/promises";
import { join } from "node:path";

/** The folder of this test run, shared by all of Jest's workers. */
export function runDirectory(): string {
  const folder = process.env.TEST_RUN_DIR;
  if (folder === undefined) {
    throw new Error(
      "No test run: Jest starts one by its globalSetup; anything else calls startRun() of @lapse/test-kit/run first, and endRun() last.",
    );
  }
  return folder;
}

/**
 * A new folder for this test, removed at the end of the run. What a `LocalStack` leaves running from
 * it, because the test was interrupted, is ended then too.
 */
export async function testFolder(): Promise<string> {
  const folder = await mkdtemp(join(runDirectory(), "folder-"));
  // Others may pass through: where root runs the tests, PostgreSQL is another user.
  await chmod(folder, 0o711);
  return folder;
}
