import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { LocalError } from "./local-error.ts";
import { type CommandResult, runCommand } from "./run-command.ts";

/** How to look for nats-server and who is told of an installation. */
export interface NatsServerSearch {
  readonly path?: string | undefined;
  readonly report?: (line: string) => void;
}

// Debian puts it into /usr/sbin, which is not on the PATH of an ordinary user.
const alsoIn = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"];

/**
 * The path of a nats-server 2.9 or later: found on the PATH, else, where root runs this on a Debian-like
 * system, installed with apt-get. Otherwise a `LocalError` that says what to install.
 */
export async function natsServerBinary(search: NatsServerSearch = {}): Promise<string> {
  const path = search.path ?? process.env.PATH ?? "";
  const folders = [...path.split(delimiter).filter(Boolean), ...alsoIn];
  const found = (await findIn(folders)) ?? (await installAndFind(folders, search.report));
  if (found === undefined) {
    throw new LocalError(
      "nats-server is not installed. Install version 2.9 or later and put it on the PATH: " +
        "`apt-get install nats-server` as root on Debian or Ubuntu, `brew install nats-server` on macOS.",
    );
  }
  const { stdout } = await runCommand(found, ["--version"]);
  if (!isRecent(stdout)) {
    throw new LocalError(
      `${found} is ${stdout.trim() || "not a working nats-server"}; Lapse needs 2.9 or later.`,
    );
  }
  return found;
}

/** Whether what `nats-server --version` prints is 2.9 or later. */
export function isRecent(version: string): boolean {
  const [, major, minor] = /v(\d+)\.(\d+)\./.exec(version) ?? [];
  return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 9);
}

async function findIn(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const candidate = join(folder, "nats-server");
    if (await isExecutable(candidate)) return candidate;
  }
  return undefined;
}

async function installAndFind(
  folders: readonly string[],
  report: (line: string) => void = () => {},
): Promise<string | undefined> {
  if (process.getuid?.() !== 0 || !(await isExecutable("/usr/bin/apt-get"))) return undefined;
  report("nats-server is not installed: installing it with apt-get (once)");
  const attempt = await aptInstall();
  const found = await findIn(folders);
  if (found === undefined) {
    const said = `${attempt.stdout}\n${attempt.stderr}`.trim().split("\n").slice(-5).join("\n");
    throw new LocalError(
      `nats-server could not be installed with apt-get. Install it by hand (2.9 or later). apt-get said:\n${said}`,
    );
  }
  return found;
}

// Under one lock for all starts on this machine; whoever had to wait finds it installed. The package
// starts a daemon of its own where systemd runs: that one is nothing to us and is switched off.
const script = `
set -e
command -v nats-server >/dev/null && exit 0
apt-get update || true
apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=120 nats-server
if [ -d /run/systemd/system ]; then systemctl disable --now nats-server.service; fi
`;

function aptInstall(): Promise<CommandResult> {
  return runCommand("flock", ["/run/lapse-install.lock", "/bin/sh", "-c", script], {
    // In a group of its own: Ctrl-C must not stop a package manager half-way.
    detached: true,
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" },
  });
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
