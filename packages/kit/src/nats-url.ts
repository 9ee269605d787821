import { invalid } from "./errors.ts";

/** Where NATS is and how to log in there, as the client library takes it. */
export interface NatsAddress {
  readonly servers: string[];
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
  readonly tls?: Record<string, never>;
}

/**
 * Reads `nats://host:port`, also several separated by commas; `tls://` asks for TLS. Credentials may stand
 * in the first URL that has any: `user:password@`, or a token alone before the `@`.
 *
 * @throws invalid `NATS_URL_INVALID`; the message never quotes the URL, which may hold a password.
 */
export function parseNatsUrl(url: string): NatsAddress {
  const servers: string[] = [];
  let login: Pick<NatsAddress, "user" | "pass" | "token"> = {};
  let tls = false;
  for (const part of url.split(",").map((text) => text.trim())) {
    const server = parseServer(part);
    servers.push(`${server.hostname}:${server.port || "4222"}`);
    tls ||= server.protocol === "tls:";
    if (Object.keys(login).length === 0) login = loginOf(server);
  }
  return { servers, ...login, ...(tls && { tls: {} }) };
}

function parseServer(text: string): URL {
  const withScheme = text.includes("://") ? text : `nats://${text}`;
  if (URL.canParse(withScheme)) {
    const server = new URL(withScheme);
    if ((server.protocol === "nats:" || server.protocol === "tls:") && server.hostname)
      return server;
  }
  throw invalid(
    "NATS_URL_INVALID",
    "the URL of NATS is not valid: write nats://host:4222, several separated by commas",
  );
}

function loginOf({ username, password }: URL): Pick<NatsAddress, "user" | "pass" | "token"> {
  if (password) return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  return username ? { token: decodeURIComponent(username) } : {};
}
