import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ContainerRuntimeClient } from "testcontainers";
import { freePort } from "./free-port.ts";
import { runDirectory } from "./run-directory.ts";

/** A container to start, from an image that is there already: nothing is ever pulled. */
export interface ContainerOptions {
  readonly image: string;
  readonly port: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

/** A running container; `hostPort` of 127.0.0.1 leads to its port and stays the same over a restart. */
export interface ServerContainer {
  readonly id: string;
  readonly hostPort: number;
}

/** Whether a container engine on this machine answers and holds the image. Costs nothing where there is none. */
export async function hasImage(image: string): Promise<boolean> {
  if (process.env.DOCKER_HOST === undefined && !existsSync("/var/run/docker.sock")) return false;
  const { ImageName } = await import("testcontainers");
  try {
    const { info, image: images } = await engine();
    const isLocal = ["localhost", "127.0.0.1"].includes(info.containerRuntime.host);
    return isLocal && (await images.exists(ImageName.fromString(image)));
  } catch {
    // A socket without an engine behind it: there are no containers to be had.
    return false;
  }
}

/** Starts a container, reached from this machine alone, which the run's guard removes at the end. */
export async function startContainer(options: ContainerOptions): Promise<ServerContainer> {
  const { container: containers } = await engine();
  const hostPort = await freePort();
  const created = await containers.create({
    Image: options.image,
    Cmd: [...options.command],
    Env: Object.entries(options.env ?? {}).map(([name, value]) => `${name}=${value}`),
    ExposedPorts: { [`${options.port}/tcp`]: {} },
    HostConfig: {
      PortBindings: {
        [`${options.port}/tcp`]: [{ HostIp: "127.0.0.1", HostPort: String(hostPort) }],
      },
    },
  });
  const folder = join(runDirectory(), "containers");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, created.id), "");
  await created.start();
  return { id: created.id, hostPort };
}

/** Stops, kills or starts again a container of this run. */
export async function controlContainer(
  id: string,
  action: "start" | "stop" | "kill",
): Promise<void> {
  const container = (await engine()).container.getById(id);
  switch (action) {
    case "start":
      return void (await container.start());
    case "stop":
      return void (await container.stop());
    case "kill":
      return void (await container.kill());
  }
}

async function engine(): Promise<ContainerRuntimeClient> {
  const { getContainerRuntimeClient } = await import("testcontainers");
  return getContainerRuntimeClient();
}
