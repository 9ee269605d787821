import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Api } from "./api.ts";

/** Time that requests under way get to finish, in ms; less than a supervisor gives before it kills. */
const DRAIN_MS = 6_000;

/**
 * Makes stopping end: connections without a request are closed at once (node itself leaves those open that
 * never had one, as browsers make them in advance), the others with the answer they are waiting for, and what
 * is not answered in time is cut off.
 */
export function closeConnectionsWhenStopping(api: Api, drainMs = DRAIN_MS): void {
  const open = new Set<Socket>();
  const busy = new Set<Socket>();
  let stopping = false;
  let cut: NodeJS.Timeout | undefined;

  api.server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  api.server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    busy.add(socket);
    response.once("close", () => busy.delete(socket));
  });
  api.addHook("onSend", async (_request, reply) => {
    if (stopping) reply.header("connection", "close");
  });
  api.addHook("preClose", async () => {
    stopping = true;
    for (const socket of open) if (!busy.has(socket)) socket.destroy();
    cut = setTimeout(() => api.server.closeAllConnections(), drainMs);
  });
  api.addHook("onClose", async () => clearTimeout(cut));
}
