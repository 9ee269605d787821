/** Longest line that is kept together, in characters; a longer one comes in pieces. */
const maxLine = 1_000_000;

/** Turns chunks of text into lines without their ends; call with `undefined` for the rest at the end. */
export function lineSplitter(onLine: (line: string) => void): (chunk: string | undefined) => void {
  let rest = "";
  return (chunk) => {
    const parts = (rest + (chunk ?? "")).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) onLine(line);
    if (rest !== "" && (chunk === undefined || rest.length > maxLine)) {
      onLine(rest);
      rest = "";
    }
  };
}
