/** Longest name of a system that is kept, in characters. */
const MAX_LENGTH = 200;

/** Shown where neither the event nor its envelope says who saw the read. */
const UNNAMED = "unknown";

/**
 * The name of the system that reported a read, made fit to be stored: what a database refuses is replaced,
 * what is too long is cut. A read counts however its source is written.
 */
export function readSource(given: string | undefined): string {
  // Cc: control characters, NUL among them.
  const name = (given ?? "").replace(/\p{Cc}/gu, " ").trim();
  return name === "" ? UNNAMED : Array.from(name).slice(0, MAX_LENGTH).join("");
}
