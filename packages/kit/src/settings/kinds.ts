import { createPublicKey } from "node:crypto";
import * as z from "zod";
import { LOG_LEVELS } from "../log.ts";
import { rotatingSecret, type SecretSource } from "./secret-file.ts";

/** A kind of value: how it is written in the environment, and what a program gets. */
export interface Kind<T> {
  /** Completes "expected …". */
  readonly allowed: string;
  /** `file` is where the text was read from, if from a file. Undefined: the text is not allowed. */
  parse(text: string, file?: string): T | undefined;
}

const of = <T>(allowed: string, schema: z.ZodType<T, string>): Kind<T> => ({
  allowed,
  parse: (text) => schema.safeParse(text).data,
});

export const text: Kind<string> = of("a text", z.string().min(1));

export const absolutePath: Kind<string> = of("an absolute path", z.string().startsWith("/"));

export const oneOf = <const V extends string>(...values: readonly [V, ...V[]]): Kind<V> =>
  of(`one of ${values.join(", ")}`, z.enum(values));

export const whole = (min: number, max: number): Kind<number> =>
  of(
    `a whole number from ${min} to ${max}`,
    z.string().regex(/^\d+$/).transform(Number).pipe(z.number().min(min).max(max)),
  );

export const share: Kind<number> = of(
  "a number above 0, up to 1",
  z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .transform(Number)
    .pipe(z.number().positive().max(1)),
);

export const onOff: Kind<boolean> = of("true or false", z.stringbool());

export const logLevel = oneOf(...LOG_LEVELS);

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^(\d{1,9})(ms|s|m|h|d)?$/;

/** Milliseconds. A bare number is seconds. */
export const duration = (minMs: number, maxMs: number): Kind<number> =>
  of(
    `seconds or a duration such as 90s, 15m, 1h, 7d, from ${inUnits(minMs)} to ${inUnits(maxMs)}`,
    z
      .string()
      .regex(DURATION)
      .transform((value) => {
        const [, amount, unit = "s"] = DURATION.exec(value) ?? [];
        return Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
      })
      .pipe(z.number().min(minMs).max(maxMs)),
  );

function inUnits(ms: number): string {
  const units = Object.entries(UNIT_MS).reverse();
  const [unit, size] = units.find(([, size]) => ms > 0 && ms % size === 0) ?? ["s", 1];
  return `${ms / size}${unit}`;
}

const urlWith = (protocols: readonly string[], example: string): Kind<string> =>
  of(
    `a URL such as ${example}`,
    z
      .string()
      .refine((value) => URL.canParse(value) && protocols.includes(new URL(value).protocol)),
  );

export const httpUrl = urlWith(["http:", "https:"], "https://id.example.org/keys");
export const postgresUrl = urlWith(
  ["postgres:", "postgresql:"],
  "postgres://user:password@host:5432/database",
);

/** One or several servers of a cluster, separated by commas. */
export const natsUrls: Kind<string> = of(
  "nats://host:4222, several separated by commas",
  z
    .string()
    .refine((value) =>
      value
        .split(",")
        .every((url) => URL.canParse(url) && /^(nats|tls):$/.test(new URL(url).protocol)),
    ),
);

/** `http://host:port` in the clear, `https://host:port` over TLS. */
export const peerUrl: Kind<string> = of(
  "a URL such as http://catalog:7401 (or https)",
  z.string().refine((value) => {
    if (!URL.canParse(value)) return false;
    const { protocol, host, pathname, search } = new URL(value);
    return /^https?:$/.test(protocol) && host !== "" && pathname === "/" && search === "";
  }),
);

/** PEM (SPKI); `\n` may stand for line ends. */
export const publicKey: Kind<string> = of(
  "a public key in PEM: Ed25519, EC on P-256, or RSA of at least 2048 bits",
  z
    .string()
    .transform((value) => value.replaceAll("\\n", "\n"))
    .refine(isUsablePublicKey),
);

function isUsablePublicKey(pem: string): boolean {
  // A private key would be accepted by createPublicKey, and then lie in every service's environment.
  if (!pem.includes("BEGIN PUBLIC KEY")) return false;
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPublicKey(pem);
    if (asymmetricKeyType === "ed25519") return true;
    if (asymmetricKeyType === "ec") return asymmetricKeyDetails?.namedCurve === "prime256v1";
    return asymmetricKeyType === "rsa" && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048;
  } catch {
    // Not a key at all: that is the answer here, the caller names the fault.
    return false;
  }
}

/** A secret that may be replaced while the service runs, when it is given as a file. */
export const rotating: Kind<SecretSource> = {
  allowed: "a text",
  parse: (value, file) => (file === undefined ? () => value : rotatingSecret(file, value)),
};
