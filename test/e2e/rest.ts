import { Agent, request } from "node:http";

export type JsonObject = { readonly [key: string]: unknown };

/** What a call was answered with; an answer without a body has an empty object. */
export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Calls the gateway as one principal; `body` goes as JSON unless it is text. */
export type Rest = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

// Not by fetch, which refuses some ports, and whose answers to a refused one would look like the gateway's.
const agent = new Agent({ keepAlive: true, maxSockets: 16 });

/** A caller of the gateway at `url` that holds `token`. */
export const restClient =
  (url: string, token: string): Rest =>
  (method, path, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const payload = typeof body === "string" ? body : JSON.stringify(body);
      const asked = request(
        new URL(path, url),
        {
          agent,
          method,
          headers: {
            authorization: `Bearer ${token}`,
            ...(payload !== undefined && { "content-type": "application/json" }),
            ...headers,
          },
        },
        (response) => {
          const parts: Buffer[] = [];
          response.on("data", (part: Buffer) => parts.push(part));
          response.on("error", reject);
          response.on("end", () => {
            const text = Buffer.concat(parts).toString();
            const isJson = /json/.test(response.headers["content-type"] ?? "");
            resolve({
              status: response.statusCode ?? 0,
              body: isJson ? (JSON.parse(text) as JsonObject) : {},
              headers: response.headers,
            });
          });
        },
      );
      asked.on("error", reject);
      asked.end(payload);
    });
