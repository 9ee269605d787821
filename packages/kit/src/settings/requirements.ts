import type { FieldViolation } from "../errors.ts";
import type { Settings } from "./load.ts";
import type { SecretSource } from "./secret-file.ts";

/** What a service may be unable to run without. */
interface Requirements {
  readonly database: { readonly database: { readonly url: string } };
  readonly nats: { readonly nats: { readonly url: string } };
  /** One of a JWKS URL and a public key. */
  readonly auth: object;
  readonly serviceToken: { readonly auth: { readonly serviceToken: SecretSource } };
  readonly objectStore: object;
}

export type RequiredName = keyof Requirements;

type Intersection<U> = (U extends unknown ? (each: U) => void : never) extends (
  all: infer I,
) => void
  ? I
  : never;

/** What the settings hold for sure once these requirements are met. */
export type Required<R extends RequiredName> = [R] extends [never]
  ? unknown
  : Intersection<Requirements[R]>;

const CHECKS: Record<RequiredName, (settings: Settings) => FieldViolation[]> = {
  database: ({ database }) => need(database.url, "LAPSE_DATABASE__URL"),
  nats: ({ nats }) => need(nats.url, "LAPSE_NATS__URL"),
  serviceToken: ({ auth }) => need(auth.serviceToken, "LAPSE_AUTH__SERVICE_TOKEN"),
  auth: ({ auth }) =>
    need(
      auth.jwksUrl ?? auth.publicKey,
      "LAPSE_AUTH__JWKS_URL",
      "must be given, or LAPSE_AUTH__PUBLIC_KEY, to tell who calls",
    ),
  objectStore: ({ objectStore: { kind, path } }) =>
    kind === "file" ? need(path, "LAPSE_OBJECT_STORE__PATH") : [],
};

const need = (value: unknown, field: string, description = "must be given"): FieldViolation[] =>
  value === undefined ? [{ field, description }] : [];

/** The requirements that are not met. */
export const missing = (settings: Settings, requires: readonly RequiredName[]): FieldViolation[] =>
  requires.flatMap((name) => CHECKS[name](settings));

/** Settings that are fine each and wrong together. */
export function contradictions({ env, auth, time, objectStore }: Settings): FieldViolation[] {
  const faults: FieldViolation[] = [];
  if (env === "production" && time.daySeconds !== undefined && time.daySeconds !== 86_400) {
    faults.push({
      field: "LAPSE_TIME__DAY_SECONDS",
      description: `${time.daySeconds} is not allowed with LAPSE_ENV=production: a retention day there has 86400`,
    });
  }
  if (auth.jwksUrl !== undefined && auth.publicKey !== undefined) {
    faults.push({
      field: "LAPSE_AUTH__PUBLIC_KEY",
      description: "given beside LAPSE_AUTH__JWKS_URL; give one of them",
    });
  }
  if ((objectStore.accessKeyId === undefined) !== (objectStore.secretAccessKey === undefined)) {
    faults.push({
      field: "LAPSE_OBJECT_STORE__ACCESS_KEY_ID",
      description: "goes together with LAPSE_OBJECT_STORE__SECRET_ACCESS_KEY; give both or neither",
    });
  }
  return faults;
}
