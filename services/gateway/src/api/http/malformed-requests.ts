import type { Socket } from "node:net";
import { invalid, newTrace, toProblem, traceId } from "@lapse/kit";

/** Codes of node's HTTP parser, and of its time limit for a request. */
const STATUS: Readonly<Record<string, { status: number; title: string; why: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    title: "Request Header Fields Too Large",
    why: "the headers are too large",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    title: "Request Timeout",
    why: "the request took too long to arrive",
  },
};
const MALFORMED = { status: 400, title: "Bad Request", why: "this is not an HTTP request" };

/** Answers what never became a request: there is a socket, and nothing above it. */
export function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const { status, title, why } = STATUS[error.code ?? ""] ?? MALFORMED;
  const problem = toProblem(invalid("REQUEST_MALFORMED", why), { traceId: traceId(newTrace()) });
  const body = JSON.stringify({ ...problem.body, status, title });
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${title}\r\ncontent-type: application/problem+json; charset=utf-8\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    );
  }
  socket.destroySoon();
}
