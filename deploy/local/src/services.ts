import { existsSync } from "node:fs";
import { get } from "node:http";
import { fileURLToPath } from "node:url";
import type { Launch } from "./launch.ts";
import { LocalError } from "./local-error.ts";
import type { ServiceName } from "./ports.ts";
import { notableServiceLine } from "./service-lines.ts";

/** A service as the stack runs it. */
export interface ServiceDefinition {
  readonly name: ServiceName;
  /** The script that Node.js runs. Absolute path. */
  readonly main: string;
  /** Its own database and the role that owns it; absent for one that keeps nothing. */
  readonly database?: string;
}

/** The services of this repository, in the order they are started. The entity-retention-runner is not one yet. */
export const repositoryServices: readonly ServiceDefinition[] = [
  { name: "catalog", main: builtMain("catalog"), database: "lapse_catalog" },
  { name: "retention-policy", main: builtMain("retention-policy"), database: "lapse_policy" },
  {
    name: "lifecycle-evaluator",
    main: builtMain("lifecycle-evaluator"),
    database: "lapse_evaluator",
  },
  { name: "audit", main: builtMain("audit"), database: "lapse_audit" },
  { name: "gateway", main: builtMain("gateway") },
];

function builtMain(name: ServiceName): string {
  return fileURLToPath(new URL(`../../../services/${name}/dist/main.js`, import.meta.url));
}

/** Throws a `LocalError` unless every service is built. */
export function requireBuilt(services: readonly ServiceDefinition[]): void {
  const missing = services.filter(({ main }) => !existsSync(main));
  if (missing.length === 0) return;
  throw new LocalError(
    `Not built: ${missing.map(({ main }) => main).join(", ")}. Run \`make build\`.`,
  );
}

/** How to run a service: ready once its operations port answers `/readyz` with 200. */
export function serviceLaunch(
  service: ServiceDefinition,
  options: {
    readonly env: Readonly<Record<string, string>>;
    readonly cwd: string;
    readonly operationsPort: number;
  },
): Launch {
  return {
    name: service.name,
    command: process.execPath,
    args: [service.main],
    env: options.env,
    cwd: options.cwd,
    isReady: () => answersOk(`http://127.0.0.1:${options.operationsPort}/readyz`),
    stop: [{ signal: "SIGTERM", waitMs: 10_000 }],
    notable: notableServiceLine,
  };
}

// Not by fetch: that refuses some ports, such as 10080, whoever listens there.
function answersOk(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { timeout: 2_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(false));
  });
}
