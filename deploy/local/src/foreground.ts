import { LocalStack, type StackAccess, type StackOptions } from "./stack.ts";

/**
 * Runs a stack until SIGINT, SIGTERM or SIGHUP, then stops it in order; a second signal ends everything
 * at once. Calls `onReady` once it is up. Rejects where it does not come up; nothing runs on then.
 */
export async function runInForeground(
  options: StackOptions,
  onReady: (access: StackAccess) => Promise<void>,
): Promise<void> {
  const stack = new LocalStack(options);
  const asked = new AbortController();
  const stopped = new Promise<void>((resolve, reject) => {
    const onSignal = () => {
      if (asked.signal.aborted) {
        stack.signal(true);
        process.exit(130);
      }
      asked.abort();
      options.report("stopping (once more to stop at once)");
      stack.stop().then(resolve, reject);
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  });
  // Whatever else ends this process must not leave the others running.
  process.once("exit", () => stack.signal(false));
  try {
    await onReady(await stack.start());
  } catch (error) {
    if (!asked.signal.aborted) {
      await stack.stop();
      throw error;
    }
  }
  await stopped;
}
