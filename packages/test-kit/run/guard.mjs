// Waits for the end of its standard input, then ends every process of the test run whose folder it is
// given, removes its containers, and removes the folder. A process is recorded as `pids/<pid>`, which
// holds its identity, or in the pids.json of a stack whose folder is in this one.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const folder = process.argv[2];
const patienceMs = 10_000;

for await (const _ of process.stdin);
await endProcesses();
await removeContainers();
removeFolder();

async function endProcesses() {
  const deadline = performance.now() + patienceMs;
  // Fast for PostgreSQL and NATS alike. PostgreSQL must not be killed: its shared memory would stay.
  signalLiving("SIGINT");
  while (living().length > 0 && performance.now() < deadline) await delay(20);
  signalLiving("SIGKILL");
}

function signalLiving(signal) {
  for (const pid of living()) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  }
}

// The number alone may be another process by now.
function living() {
  const own = list("pids").map((pid) => ({ pid: Number(pid), identity: read("pids", pid) }));
  return [...own, ...list(".").flatMap(ofStack)]
    .filter(({ pid, identity }) => identity !== undefined && identityOf(pid) === identity)
    .map(({ pid }) => pid);
}

function ofStack(name) {
  const { supervisor: _, ...pids } = JSON.parse(read(name, "pids.json") ?? "{}");
  return Object.values(pids);
}

// As in @lapse/local's process-identity.ts, which cannot be loaded here unbuilt.
function identityOf(pid) {
  if (process.platform !== "linux") {
    const { stdout } = spawnSync("ps", ["-o", "stat=,lstart=", "-p", `${pid}`], {
      encoding: "utf8",
    });
    const [state = "Z", ...start] = stdout.trim().split(/\s+/);
    return state.startsWith("Z") ? undefined : start.join(" ");
  }
  const stat = read("/proc", `${pid}`, "stat");
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const boot = read("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
  return "ZX".includes(fields[0]) ? undefined : `${boot}:${fields[19]}`;
}

async function removeContainers() {
  const ids = list("containers");
  if (ids.length === 0) return;
  const { getContainerRuntimeClient } = await import("testcontainers");
  const { container } = await getContainerRuntimeClient();
  for (const id of ids) await container.getById(id).remove({ force: true, v: true });
}

// Where root's PostgreSQL could not reach the folder, `postgres` in it is a link to its data.
function removeFolder() {
  const places = [folder, ...list(".").map((name) => join(folder, name))];
  const linked = places.flatMap((place) => {
    const data = realPath(join(place, "postgres"));
    return data === undefined || data.startsWith(folder) ? [] : [data];
  });
  for (const path of [...linked, folder]) rmSync(path, { recursive: true, force: true });
}

function realPath(path) {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function list(name) {
  try {
    return readdirSync(join(folder, name));
  } catch {
    return [];
  }
}

/** The text of a file below the run's folder, or anywhere by an absolute path; undefined without one. */
function read(first, ...rest) {
  try {
    return readFileSync(
      first.startsWith("/") ? join(first, ...rest) : join(folder, first, ...rest),
      "utf8",
    );
  } catch {
    return undefined;
  }
}
