import type { Environment } from "@lapse/proto/catalog";
import type { Peers } from "../peers.ts";
import { type Call, reading } from "./call.ts";
import { required } from "./required.ts";

/**
 * The environment of that name: the services know it by its id.
 *
 * @throws notFound `ENVIRONMENT_NOT_FOUND`
 */
export async function findEnvironment(
  { catalog }: Pick<Peers, "catalog">,
  call: Call,
  name: string,
): Promise<Environment> {
  const ref = { ref: { case: "name", value: name } } as const;
  const { environment } = await catalog.getEnvironment({ environment: ref }, reading(call));
  return required(environment, "environment");
}
