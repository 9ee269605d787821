/** What the values of a column's type look like, as far as Lapse knows the type. */
export type TypeFamily =
  | "integer"
  | "decimal"
  | "float"
  | "text"
  | "boolean"
  | "date"
  | "timestamp"
  | "uuid"
  | "unknown";

const FAMILIES: Readonly<Record<Exclude<TypeFamily, "unknown">, readonly string[]>> = {
  integer: [
    "tinyint",
    "smallint",
    "int",
    "integer",
    "bigint",
    "hugeint",
    "long",
    "short",
    "byte",
    "int1",
    "int2",
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "int128",
    "utinyint",
    "usmallint",
    "uinteger",
    "ubigint",
    "uhugeint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
  ],
  decimal: ["decimal", "numeric", "dec", "number"],
  float: ["float", "double", "real", "float4", "float8", "double precision"],
  text: ["varchar", "text", "string", "char", "bpchar", "character", "character varying"],
  boolean: ["boolean", "bool"],
  date: ["date"],
  timestamp: [
    "timestamp",
    "timestamptz",
    "datetime",
    "timestamp_s",
    "timestamp_ms",
    "timestamp_us",
    "timestamp_ns",
    "timestamp with time zone",
    "timestamp without time zone",
  ],
  uuid: ["uuid"],
};

const BY_NAME: ReadonlyMap<string, TypeFamily> = new Map(
  Object.entries(FAMILIES).flatMap(([family, names]) =>
    names.map((name) => [name, family as TypeFamily] as const),
  ),
);

/** `DECIMAL(10,2)` → decimal; `BIGINT[]`, `STRUCT(…)` and what no engine here names → unknown. */
export function familyOf(type: string): TypeFamily {
  const name = type
    .toLowerCase()
    .replace(/\(\s*\d+\s*(,\s*\d+\s*)?\)/, "")
    .replace(/\s+/g, " ")
    .trim();
  return BY_NAME.get(name) ?? "unknown";
}

const NUMBER = /^[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})$/;
const SHAPES: Readonly<Record<TypeFamily, { readonly shape: RegExp; readonly says: string }>> = {
  integer: { shape: /^[+-]?\d{1,40}$/, says: "a whole number, e.g. 42" },
  decimal: { shape: NUMBER, says: "a number, e.g. 12.50" },
  float: {
    shape: /^[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,3})?$/,
    says: "a number, e.g. 1.5e3",
  },
  text: { shape: /^/, says: "text" },
  boolean: { shape: /^(true|false)$/, says: "true or false" },
  date: { shape: /^\d{4}-\d{2}-\d{2}$/, says: "a day, e.g. 2026-12-31" },
  timestamp: {
    shape: /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/,
    says: "a time, e.g. 2026-12-31T12:00:00Z",
  },
  uuid: {
    shape: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
    says: "a UUID",
  },
  unknown: { shape: /^/, says: "text" },
};

/** What is wrong with a value for a column of that family, or undefined. */
export function valueFault(family: TypeFamily, value: string): string | undefined {
  const { shape, says } = SHAPES[family];
  const dated = family === "date" || family === "timestamp";
  return shape.test(value) && (!dated || isDay(value.slice(0, 10)))
    ? undefined
    : `the column takes ${says}`;
}

/** Whether the calendar has the day: 2026-02-30 is none. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
