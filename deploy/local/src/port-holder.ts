import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { processCommand } from "./process-identity.ts";

/** Who listens on a TCP port, as "pid 123, command"; `undefined` where the system does not tell us. */
export function portHolder(port: number): string | undefined {
  if (process.platform !== "linux") return undefined;
  const sockets = new Set(["tcp", "tcp6"].flatMap((table) => listeningInodes(table, port)));
  if (sockets.size === 0) return undefined;
  const pid = numericEntries("/proc").find((candidate) =>
    openFiles(candidate).some((file) => sockets.has(file)),
  );
  if (pid === undefined) return undefined;
  const command = processCommand(Number(pid));
  return `pid ${pid}, ${command.length > 60 ? `${command.slice(0, 60)}…` : command}`;
}

function listeningInodes(table: string, port: number): string[] {
  const listening = "0A";
  const hexPort = port.toString(16).toUpperCase().padStart(4, "0");
  return readLines(`/proc/net/${table}`).flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    const matches = fields[1]?.endsWith(`:${hexPort}`) === true && fields[3] === listening;
    return matches ? [`socket:[${fields[9]}]`] : [];
  });
}

function openFiles(pid: string): string[] {
  const folder = `/proc/${pid}/fd`;
  return listFolder(folder).map((fd) => linkTarget(`${folder}/${fd}`));
}

// Other users' processes, and those that end meanwhile, cannot be looked into: they stay unnamed.
function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function linkTarget(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function numericEntries(folder: string): string[] {
  return readdirSync(folder).filter((name) => /^\d+$/.test(name));
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    return [];
  }
}
