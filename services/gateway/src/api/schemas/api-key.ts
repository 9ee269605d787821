import { ROLES } from "@lapse/kit";
import * as z from "zod";
import { page } from "./pages.ts";
import { Id, Instant, text } from "./values.ts";

const KeyName = text(200)
  .min(1)
  .meta({
    description: "What it is for, in its maker's words.",
    examples: ["nightly load"],
  });

const apiKey = {
  id: Id,
  name: KeyName,
  subject: z.string().meta({
    description: "The principal that it stands for, which roles and grants can be given to.",
    examples: ["key:0190f3a2-7c1e-7b1a-9d3e-5a2f4c6b8d10"],
  }),
  roles: z.array(z.enum(ROLES)),
  created_by: z.string(),
  created_at: Instant,
  expires_at: Instant,
  revoked_at: Instant.nullable(),
  revoked_by: z.string().nullable(),
  last_used_at: Instant.nullable().meta({ description: "To the minute; null: never." }),
};

/** An API key without its secret, which nobody has but its holder. */
export const ApiKey = z.strictObject(apiKey).meta({ id: "ApiKey" });

export const ApiKeyPage = page(ApiKey);

/** A key right after it was made. */
export const CreatedApiKey = z
  .strictObject({
    ...apiKey,
    token: z.string().meta({
      description: "The bearer token. It is in this answer and nowhere else: keep it now.",
      examples: ["lapse_0190f3a27c1e7b1a9d3e5a2f4c6b8d10_…"],
    }),
  })
  .meta({ id: "CreatedApiKey" });

export const NewApiKey = z
  .strictObject({
    name: KeyName,
    roles: z.array(z.enum(ROLES)).max(ROLES.length).optional().meta({
      description: "No more than the caller has; absent: only what is granted to its subject.",
    }),
    expires_in_days: z
      .int()
      .min(1)
      .max(365)
      .optional()
      .meta({ description: "Calendar days; 90 unless given.", examples: [90] }),
  })
  .meta({
    id: "NewApiKey",
    examples: [{ name: "nightly load", roles: ["writer"], expires_in_days: 30 }],
  });

export type ApiKeyJson = z.output<typeof ApiKey>;
export type CreatedApiKeyJson = z.output<typeof CreatedApiKey>;
