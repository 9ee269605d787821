import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as the server got it. */
interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Respond = (response: ServerResponse, request: Received) => void;

export interface TestServer {
  readonly url: string;
  readonly received: Received[];
  /** How the requests to come are answered, one each; the last one answers all further ones. */
  answer(...responds: Respond[]): void;
  close(): Promise<void>;
}

/** An HTTP server that answers as a test says. */
export async function startTestServer(): Promise<TestServer> {
  const received: Received[] = [];
  let responds: Respond[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const got = { method, url, headers, body };
      received.push(got);
      const respond = responds.length > 1 ? responds.shift() : responds[0];
      respond?.(response, got);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (...given) => {
      responds = given;
    },
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export const json =
  (body: unknown, status = 200): Respond =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

export const problem = (status: number, over: object = {}): Respond =>
  json({ status, code: "SOME_CODE", detail: "Do this instead.", ...over }, status);

/** Breaks the connection without an answer. */
export const hangUp: Respond = (response) => response.destroy();
