import type { Api } from "./api.ts";

/** Reads JSON and nothing else; an empty body is none, whatever its content type. */
export function readJsonOnly(api: Api): void {
  const parse = api.getDefaultJsonParser("error", "error");
  api.removeAllContentTypeParsers();
  api.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    if (body.length === 0) done(null, undefined);
    else void parse(request, String(body), done);
  });
}
