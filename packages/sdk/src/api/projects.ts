import type { CallOptions, Http, WriteOptions } from "../http/http.ts";
import { type Listing, listing } from "../listing.ts";
import { environmentUrl, pathPart } from "../path-part.ts";
import { type Project, readProject } from "../types/environment.ts";

export type Deployment = {
  readonly version: string;
  /**
   * Names of the tables that this version builds, at most 10,000. A version keeps those it was first deployed with:
   * others are refused as `VERSION_TAKEN`. Absent: those that it had before.
   */
  readonly assets?: readonly string[];
};

/** What is deployed in an environment: the tables that it builds never expire there (T20). */
export function projectsApi(http: Http) {
  const url = (environment: string) => `${environmentUrl(environment)}/projects`;
  const oneUrl = (environment: string, project: string) =>
    `${url(environment)}/${pathPart(project)}`;
  return {
    /** Makes a version of a project current there. */
    async deploy(
      environment: string,
      project: string,
      deployment: Deployment,
      options?: WriteOptions,
    ): Promise<Project> {
      const request = { body: deployment, options };
      return readProject(await http.send("PUT", oneUrl(environment, project), request));
    },
    /** The tables that it built can expire again. */
    async undeploy(environment: string, project: string, options?: WriteOptions): Promise<void> {
      await http.send("DELETE", oneUrl(environment, project), { options });
    },
    list(environment: string, options?: CallOptions): Listing<Project> {
      return listing(http, url(environment), readProject, {}, options);
    },
  };
}
