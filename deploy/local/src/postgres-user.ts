import { setTimeout as delay } from "node:timers/promises";
import { LocalError } from "./local-error.ts";
import { runCommand } from "./run-command.ts";

/** A system user by number. */
export interface SystemUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Whom PostgreSQL runs as. Not root: ourselves, `undefined`. Root, whom PostgreSQL refuses: the
 * system's `postgres` where there is one, else `name`, a user made for it without a home or a shell.
 */
export async function postgresUser(name = "lapse-postgres"): Promise<SystemUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  return (await lookUp("postgres")) ?? (await lookUp(name)) ?? (await createUser(name));
}

async function lookUp(name: string): Promise<SystemUser | undefined> {
  const [uid, gid] = await Promise.all([
    runCommand("id", ["-u", name]),
    runCommand("id", ["-g", name]),
  ]);
  if (uid.code !== 0 || gid.code !== 0) return undefined;
  return { name, uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

// Two starts at once may both want the user: the loser of the race for /etc/passwd finds it there.
async function createUser(name: string): Promise<SystemUser> {
  let reason = "";
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const flags = ["--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin"];
    const made = await runCommand("useradd", [...flags, name]);
    const user = await lookUp(name);
    if (user !== undefined) return user;
    reason = made.stderr.trim();
    await delay(200);
  }
  throw new LocalError(
    `PostgreSQL does not run as root, and the system user ${name} could not be made for it (${reason}). ` +
      `Make the user, or start Lapse as an ordinary user.`,
  );
}

/** Whether `user` can do what a shell test such as `-x /path` asks. */
export async function canDo(user: SystemUser, test: string, path: string): Promise<boolean> {
  const shell = ["-c", `test ${test} "$1"`, "sh", path];
  const answer = await runCommand("/bin/sh", shell, { uid: user.uid, gid: user.gid, cwd: "/" });
  return answer.code === 0;
}
