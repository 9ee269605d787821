import { LapseInputError } from "./errors.ts";

/**
 * A name as one part of a path. An address cannot hold an empty part, and takes `.` and `..`, however written, for
 * steps in the path: those are refused before they lead elsewhere.
 *
 * @throws {LapseInputError}
 */
export function pathPart(name: string): string {
  if (name === "" || name === "." || name === "..") {
    throw new LapseInputError(`"${name}" is not a name.`);
  }
  return encodeURIComponent(name);
}

/** The REST path of an environment. */
export const environmentUrl = (environment: string): string =>
  `api/v1/environments/${pathPart(environment)}`;
