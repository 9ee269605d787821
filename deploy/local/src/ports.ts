import { createServer } from "node:net";
import { LocalError } from "./local-error.ts";
import { portHolder } from "./port-holder.ts";

/** The six services of the architecture; a port is reserved for each, running or not. */
const serviceNames = [
  "catalog",
  "retention-policy",
  "lifecycle-evaluator",
  "entity-retention-runner",
  "audit",
  "gateway",
] as const;

/** Name of a service, as its folder is called. */
export type ServiceName = (typeof serviceNames)[number];

/** One port of the stack and what listens there. */
export interface NamedPort {
  readonly name: string;
  readonly port: number;
}

/** Every port of a stack. */
export interface StackPorts {
  readonly rest: number;
  readonly s3: number;
  readonly postgres: number;
  readonly nats: number;
  readonly natsMonitoring: number;
  /** gRPC; the gateway has none and its entry is absent. */
  readonly grpc: Readonly<Record<Exclude<ServiceName, "gateway">, number>>;
  readonly operations: Readonly<Record<ServiceName, number>>;
}

/** The ports of the stack whose every port is moved by `offset`. */
export function stackPorts(offset: number): StackPorts {
  return {
    rest: 8080 + offset,
    s3: 8081 + offset,
    postgres: 7543 + offset,
    nats: 7422 + offset,
    natsMonitoring: 7822 + offset,
    grpc: {
      catalog: 7401 + offset,
      "retention-policy": 7402 + offset,
      "lifecycle-evaluator": 7403 + offset,
      "entity-retention-runner": 7404 + offset,
      audit: 7405 + offset,
    },
    operations: {
      catalog: 7501 + offset,
      "retention-policy": 7502 + offset,
      "lifecycle-evaluator": 7503 + offset,
      "entity-retention-runner": 7504 + offset,
      audit: 7505 + offset,
      gateway: 7506 + offset,
    },
  };
}

/** The ports as a list with names for people. */
export function listPorts(ports: StackPorts): readonly NamedPort[] {
  const named = (suffix: string, map: Readonly<Record<string, number>>): NamedPort[] =>
    Object.entries(map).map(([name, port]) => ({ name: `${name} ${suffix}`, port }));
  return [
    { name: "REST", port: ports.rest },
    { name: "S3", port: ports.s3 },
    ...named("gRPC", ports.grpc),
    ...named("operations", ports.operations),
    { name: "PostgreSQL", port: ports.postgres },
    { name: "NATS", port: ports.nats },
    { name: "NATS monitoring", port: ports.natsMonitoring },
  ];
}

/** Whether 127.0.0.1:`port` can be listened on now. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host: "127.0.0.1", port }, () => server.close(() => resolve(true)));
  });
}

/** Throws a `LocalError` that names every port in use, who holds it where that can be told, and the way out. */
export async function requireFreePorts(ports: readonly NamedPort[]): Promise<void> {
  const free = await Promise.all(ports.map(({ port }) => isPortFree(port)));
  const busy = ports.filter((_, index) => !free[index]);
  const first = busy[0];
  if (first === undefined) return;
  const list = busy.map(({ name, port }) => {
    const holder = portHolder(port);
    return holder === undefined ? `${port} (${name})` : `${port} (${name}; held by ${holder})`;
  });
  throw new LocalError(
    `${busy.length === 1 ? "This port is" : "These ports are"} in use: ${list.join(", ")}. ` +
      `Stop what holds ${busy.length === 1 ? "it" : "them"} (\`lsof -i :${first.port}\` names it), ` +
      "or move every port of Lapse: LAPSE_LOCAL__PORT_OFFSET=100 make up",
  );
}

/** An offset at which every port of a stack is free now, so that stacks run side by side. Throws a `LocalError`. */
export async function freePortOffset(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const offset = 1_000 + 100 * Math.floor(Math.random() * 400);
    const ports = listPorts(stackPorts(offset));
    const free = await Promise.all(ports.map(({ port }) => isPortFree(port)));
    if (free.every(Boolean)) return offset;
  }
  throw new LocalError("No free range of ports was found for another stack.");
}
