import picocolors from "picocolors";

/** Colours for what people read on a terminal; none when it is redirected or `NO_COLOR` is set. */
export const stdoutColors = () => picocolors.createColors(wanted(process.stdout));
export const stderrColors = () => picocolors.createColors(wanted(process.stderr));

function wanted(stream: { readonly isTTY?: boolean }): boolean {
  return Boolean(stream.isTTY) && !process.env.NO_COLOR && process.env.TERM !== "dumb";
}
