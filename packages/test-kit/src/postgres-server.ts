import { postgresAnswers, preparePostgres, until } from "@lapse/local";
import { hasImage, startContainer } from "./containers.ts";
import { freePort } from "./free-port.ts";
import { onceInRun } from "./once-in-run.ts";
import { runDirectory } from "./run-directory.ts";
import { startServerProcess } from "./server-process.ts";

const image = "postgres:18";
/** Tests do without what a power cut would need; benches set it, to measure what is run. */
const durable = process.env.TEST_POSTGRES_DURABLE === "1";
const settings = [...(durable ? [] : ["fsync=off", "full_page_writes=off"]), "max_connections=200"];

/**
 * A superuser's URL of the PostgreSQL that all tests of this run share: `TEST_POSTGRES_URL`, else a
 * container where an engine answers and has the image, else a process of our own.
 */
export async function postgresAdminUrl(): Promise<string> {
  const given = process.env.TEST_POSTGRES_URL;
  if (given) return given;
  return onceInRun("postgres", async () =>
    (await hasImage(image)) ? startInContainer() : startAsProcess(),
  );
}

async function startInContainer(): Promise<string> {
  const { hostPort } = await startContainer({
    image,
    port: 5432,
    env: { POSTGRES_PASSWORD: "postgres" },
    command: ["postgres", ...settings.flatMap((setting) => ["-c", setting])],
  });
  const url = `postgres://postgres:postgres@127.0.0.1:${hostPort}/postgres`;
  if (await until(() => postgresAnswers(url), { timeoutMs: 60_000 })) return url;
  throw new Error(`PostgreSQL in a container of ${image} does not answer at ${url}`);
}

async function startAsProcess(): Promise<string> {
  const { launch, adminUrl } = await preparePostgres({
    dir: runDirectory(),
    port: await freePort(),
    durable,
  });
  await startServerProcess(launch);
  return adminUrl;
}
