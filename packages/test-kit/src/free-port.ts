import { randomInt } from "node:crypto";
import { isPortFree, until } from "@lapse/local";

// Below the ports that systems give to outgoing connections (from 32768 on Linux): those could take
// it away at any time while a server is restarted.
const lowest = 20_000;
const beyond = 32_000;

/** A port of 127.0.0.1 on which nothing listens now. */
export async function freePort(): Promise<number> {
  const port = await until(
    async () => {
      const candidate = randomInt(lowest, beyond);
      return (await isPortFree(candidate)) ? candidate : undefined;
    },
    { timeoutMs: 10_000, everyMs: 0 },
  );
  if (port === undefined) throw new Error(`no free port between ${lowest} and ${beyond}`);
  return port;
}
