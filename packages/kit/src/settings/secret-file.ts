import { readFileSync, statSync } from "node:fs";

/** Gives the secret as it is now. */
export type SecretSource = () => string;

/** The text of a secret's file, without the line end that editors and `echo` add. */
export const readSecretFile = (file: string): string => readFileSync(file, "utf8").trimEnd();

/**
 * The secret in `file`, read again when the file was replaced; looked at once a second at most, unless
 * `checkEveryMs` says otherwise. While the file cannot be read, the last value stays.
 */
export function rotatingSecret(file: string, value: string, checkEveryMs = 1_000): SecretSource {
  let current = value;
  let seen = versionOf(file);
  let checkedAt = performance.now();
  return () => {
    if (performance.now() - checkedAt < checkEveryMs) return current;
    checkedAt = performance.now();
    const version = versionOf(file);
    if (version === undefined || version === seen) return current;
    const next = readIfThere(file);
    if (next) {
      current = next;
      seen = version;
    }
    return current;
  };
}

function versionOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found && `${found.ino}:${found.mtimeNs}:${found.size}`;
}

function readIfThere(file: string): string | undefined {
  try {
    return readSecretFile(file);
  } catch {
    // Gone or locked between the look and the read: the next call looks again.
    return undefined;
  }
}
