import * as z from "zod";
import { page } from "./pages.ts";
import { EnvironmentName, FullName, Instant, text } from "./values.ts";

/** Tables that one version builds, at most. */
const MOST_ASSETS = 10_000;

export const ProjectName = text(255)
  .min(1)
  .meta({ examples: ["shop"] });

const ProjectVersion = text(200)
  .min(1)
  .meta({ examples: ["1.4.0"] });

/** The version of a project that is current in an environment (T20). */
export const Project = z
  .strictObject({
    name: z.string(),
    environment: EnvironmentName,
    version: z.string(),
    assets: z.array(z.string()).meta({
      description: "The tables it builds, whether they are there yet or not: they never expire.",
      examples: [["gold.orders"]],
    }),
    deployed_by: z.string(),
    deployed_at: Instant,
  })
  .meta({ id: "Project" });

export const ProjectPage = page(Project);

export const Deployment = z
  .strictObject({
    version: ProjectVersion,
    assets: z
      .array(FullName)
      .min(1, { error: "name the tables that it builds, or leave assets out" })
      .max(MOST_ASSETS)
      .optional()
      .meta({
        description:
          "Names of the tables that it builds; a version keeps those it was first deployed with. Absent: those that it had before.",
      }),
  })
  .meta({
    id: "Deployment",
    examples: [{ version: "1.4.0", assets: ["gold.orders", "gold.customers"] }],
  });

export type ProjectJson = z.output<typeof Project>;
