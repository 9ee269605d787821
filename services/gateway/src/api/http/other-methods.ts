import type { Api } from "./api.ts";
import { methodNotAllowed } from "./problems.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Returns how to close the set of routes: every known path then answers 405 to the methods it does not take. */
export function refuseOtherMethods(api: Api): () => void {
  const taken = new Map<string, Set<string>>();
  api.addHook("onRoute", ({ url, method }) => {
    const methods = taken.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each.toUpperCase());
    taken.set(url, methods);
  });
  return () => {
    for (const [url, methods] of [...taken]) {
      const others = METHODS.filter((method) => !methods.has(method));
      if (others.length === 0) continue;
      const refuse = methodNotAllowed([...methods]);
      // In onRequest, so that the body of a refused request is neither read nor judged.
      api.route({
        method: others,
        url,
        onRequest: refuse,
        handler: refuse,
        schema: { hide: true },
      });
    }
  };
}
