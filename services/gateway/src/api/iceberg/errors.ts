import type { Api } from "../http/api.ts";
import { failing } from "../http/problems.ts";

/** The names that Iceberg's clients know, by status. */
const TYPES: Readonly<Record<number, string>> = {
  400: "BadRequestException",
  401: "NotAuthorizedException",
  403: "ForbiddenException",
  404: "NoSuchTableException",
  409: "CommitFailedException",
  413: "BadRequestException",
  415: "BadRequestException",
  429: "ServiceUnavailableException",
  503: "ServiceUnavailableException",
};

/** Every failure of the routes after this is answered as Iceberg's REST catalog does. */
export function answerIcebergErrors(api: Api): void {
  api.setErrorHandler((thrown, request, reply) => {
    const { error, problem } = failing(thrown, request, reply);
    const { status: code } = problem;
    const faults = error.violations.map(({ field, description }) => `${field}: ${description}`);
    const message = faults.length > 1 ? `${error.message}: ${faults.join("; ")}` : error.message;
    const type = TYPES[code] ?? "RESTException";
    return reply.code(code).type("application/json").send({ error: { message, type, code } });
  });
}
