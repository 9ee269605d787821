/**
 * Something the person at the terminal can act on. The message is whole sentences that say what is
 * wrong and what to do; it is printed without a stack.
 */
export class LocalError extends Error {
  override readonly name = "LocalError";
}
