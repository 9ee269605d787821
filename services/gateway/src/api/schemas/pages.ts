import * as z from "zod";

/** How much of a list is wanted, and from where on. */
export const pageQuery = {
  limit: z.coerce
    .number({ error: "give a whole number from 1 to 1000" })
    .int()
    .min(1)
    .max(1_000)
    .default(100)
    .meta({ description: "Items on a page, at most." }),
  cursor: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .meta({ description: "`next_cursor` of the page before; absent: the first page." }),
};

export const PageQuery = z.strictObject(pageQuery);

/** One page of a list. */
export const page = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    items: z.array(item),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: "Gets the next page; null on the last one." }),
  });
