import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { jest } from "@jest/globals";
import { run } from "../src/run.ts";

/** What the gateway answers to `METHOD path`: a body, or a status with one. */
export type Answers = Record<string, unknown>;

export type CliRun = {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** What the CLI asked, e.g. `POST /api/v1/roles {"subject":"ana"}`, in order. */
  readonly asked: readonly string[];
};

class Status {
  readonly status: number;
  readonly body: unknown;
  constructor(status: number, body: unknown) {
    this.status = status;
    this.body = body;
  }
}

/** An answer of another status than 200. */
export const status = (code: number, body: unknown = {}): Status => new Status(code, body);

/** A refusal as the gateway words it. */
export const refusal = (code: number, reason: string, detail: string, over: object = {}): Status =>
  status(code, { status: code, code: reason, detail, ...over });

/** Runs the CLI in this process against a gateway that answers as told, and 404 to everything else. */
export async function cli(args: readonly string[], answers: Answers = {}): Promise<CliRun> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      const route = `${request.method} ${request.url}`;
      asked.push(body ? `${route} ${body}` : route);
      const known = answers[route] ?? refusal(404, "ROUTE_NOT_FOUND", `nothing at ${route}`);
      const { status: code, body: answer } = known instanceof Status ? known : status(200, known);
      response.writeHead(code, { "content-type": "application/json" });
      response.end(code === 204 ? undefined : JSON.stringify(answer));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const out = capture(process.stdout);
  const err = capture(process.stderr);
  const before = { ...process.env };
  Object.assign(process.env, { LAPSE_URL: `http://127.0.0.1:${port}`, LAPSE_TOKEN: "t" });
  delete process.env.LAPSE_ENVIRONMENT;
  try {
    const code = await run(args);
    return { code, stdout: out.text(), stderr: err.text(), asked };
  } finally {
    out.restore();
    err.restore();
    process.env = before;
    server.closeAllConnections();
    server.close();
  }
}

function capture(stream: NodeJS.WriteStream) {
  let text = "";
  const write = jest.spyOn(stream, "write").mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  return { text: () => text, restore: () => write.mockRestore() };
}
