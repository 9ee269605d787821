import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
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

/** Whether a container engine answers and holds the image. Costs nothing where there is no engine. */
export async function hasImage(image: string): Promise<boolean> {
  if (process.env.DOCKER_HOST === undefined && !existsSync("/var/run/docker.sock")) return false;
  const { getContainerRuntimeClient, ImageName } = await import("testcontainers");
  try {
    const client = await getContainerRuntimeClient();
    return await client.image.exists(ImageName.fromString(image));
  } catch {
    // A socket without an engine behind it: there are no containers to be had.
    return false;
  }
}

/** Starts a container, which the run's guard removes at the end. */
export async function startContainer(options: ContainerOptions): Promise<ServerContainer> {
  // The reaper would be an image of its own to pull; the guard does its work.
  process.env.TESTCONTAINERS_RYUK_DISABLED = "true";
  const { GenericContainer } = await import("testcontainers");
  const hostPort = await freePort();
  const started = await new GenericContainer(options.image)
    .withEnvironment({ ...options.env })
    .withCommand([...options.command])
    .withExposedPorts({ container: options.port, host: hostPort })
    .start();
  const folder = join(runDirectory(), "containers");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, started.getId()), "");
  return { id: started.getId(), hostPort };
}

/** Stops, kills or starts again a container of this run. */
export async function controlContainer(
  id: string,
  action: "start" | "stop" | "kill",
): Promise<void> {
  const { getContainerRuntimeClient } = await import("testcontainers");
  const container = (await getContainerRuntimeClient()).container.getById(id);
  switch (action) {
    case "start":
      return void (await container.start());
    case "stop":
      return void (await container.stop());
    case "kill":
      return void (await container.kill());
  }
}
