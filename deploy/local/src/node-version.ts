/** The sentence for a Node.js that is too old for Lapse (20.19); `undefined` for one that will do. */
export function nodeFault(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return undefined;
  return `Lapse needs Node.js 20.19 or later; this is ${version}. Install a current one from https://nodejs.org.`;
}
