import * as z from "zod";

/** An immutable id. */
export const Id = z
  .uuid({ error: "an id is a UUID, such as 0190f3a2-7c1e-7b1a-9d3e-5a2f4c6b8d10" })
  .meta({ examples: ["0190f3a2-7c1e-7b1a-9d3e-5a2f4c6b8d10"] });

/** An instant as Lapse writes it: RFC 3339, UTC, milliseconds. */
export const Instant = z.iso.datetime().meta({ examples: ["2026-11-30T12:00:00.123Z"] });

/** An instant as a caller may write it: RFC 3339 with any offset. */
export const GivenInstant = z.iso
  .datetime({
    offset: true,
    error: ({ input }) =>
      typeof input === "string" && /^\d{4}-\d{2}-\d{2}$/.test(input)
        ? `${input} is a day; give an instant, such as ${input}T00:00:00Z`
        : "give an instant as RFC 3339 writes it, such as 2026-11-30T12:00:00Z",
  })
  .meta({ examples: ["2026-11-30T12:00:00.123Z"] });

/** A whole number that JSON carries without loss. */
export const Count = z.int().min(0);

/** A version of a table: it moves with every change. */
export const Version = Count.meta({ examples: [7] });

/** Half of a character: JSON can hold it, and nothing that Lapse stores can. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Text that is data and nothing else; the service that owns it says which texts it takes. */
export const text = (most: number) =>
  z
    .string()
    .max(most)
    .refine((value) => !LONE_SURROGATE.test(value), { error: "is not well-formed Unicode" });

/** A name in a path or a body. */
const name = (most: number, example: string) =>
  text(most)
    .min(1)
    .meta({ examples: [example] });

export const EnvironmentName = name(255, "dev");
export const Namespace = name(1_024, "bronze");
export const TableName = name(255, "trial");
/** Who: a person, or an API key as `key:<id>`. */
export const Subject = name(200, "ana@example.org");

/** `namespace.name`; the namespace may have dots of its own. */
export const FullName = text(1_300)
  .regex(/^.+\..+$/s, {
    error: "write the namespace and the name with a dot between, such as bronze.trial",
  })
  .meta({ examples: ["bronze.trial"] });

/** The two parts of a {@link FullName}. */
export function splitFullName(fullName: string): { namespace: string; name: string } {
  const dot = fullName.lastIndexOf(".");
  return { namespace: fullName.slice(0, dot), name: fullName.slice(dot + 1) };
}

/** `true` or `false` as a query has it. */
export const Flag = z.preprocess(
  (value) => (value === "true" ? true : value === "false" ? false : value),
  z.boolean({ error: "give true or false" }),
);

/** What the caller may do with a thing. */
export const Rights = z.array(z.string()).meta({
  description: "What the caller may do with it, by roles, grants and ownership; sorted.",
  examples: [["table.read", "table.write"]],
});
