import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, afterEach, beforeAll, beforeEach } from "@jest/globals";
import type { Pool } from "@lapse/kit";
import type { Sweep } from "@lapse/proto/evaluator";
import { type TestNats, testNats, testTokens } from "@lapse/test-kit";
import type { Timing } from "../../src/timing.ts";
import { type CatalogDouble, playCatalog, type Verdict } from "./catalog-double.ts";
import { type CatalogServer, serveCatalog } from "./catalog-server.ts";
import { type LabDatabase, labDatabase } from "./database.ts";
import { as, type Evaluator, startTestEvaluator } from "./evaluator.ts";
import { daysAgo, Publishers, type TableInit } from "./publishers.ts";

/**
 * An evaluator with a broker, a database and a catalog that answers: new for each test of the file that
 * makes it.
 */
export class System {
  readonly #tokens = testTokens();
  #db: LabDatabase | undefined;
  #broker: TestNats | undefined;
  #publishers: Publishers | undefined;
  #catalog: CatalogDouble | undefined;
  #rights: CatalogServer | undefined;
  #evaluator: Evaluator | undefined;
  /** What the catalog does with a due table; drops it unless set. */
  verdict: (tableId: string) => Verdict = () => null;

  constructor(name: string) {
    beforeAll(async () => {
      this.#db = await labDatabase(name);
      this.#rights = await serveCatalog(this.#tokens);
    });
    afterAll(async () => {
      await this.#rights?.stop();
      await this.#db?.close();
    });
    beforeEach(() => this.#open());
    afterEach(() => this.#close());
  }

  get pool(): Pool {
    return there(this.#db).pool;
  }
  get publishers(): Publishers {
    return there(this.#publishers);
  }
  get catalog(): CatalogDouble {
    return there(this.#catalog);
  }
  get evaluator(): Evaluator {
    return there(this.#evaluator);
  }

  async start(given: Record<string, string> = {}, timing: Partial<Timing> = {}): Promise<void> {
    const env = { ...there(this.#rights).env, ...given };
    const urls = { databaseUrl: there(this.#db).url, natsUrl: there(this.#broker).url };
    this.#evaluator = await startTestEvaluator({ ...urls, tokens: this.#tokens, env, timing });
  }

  async stop(): Promise<void> {
    await this.#evaluator?.stop();
    this.#evaluator = undefined;
  }

  /** Asks for a sweep as an admin, and waits for its end. */
  async sweep(): Promise<Sweep> {
    const { sweep } = await this.evaluator.client.runSweep(
      { waitSeconds: 50 },
      { ...as("admin"), deadlineMs: 55_000 },
    );
    return there(sweep);
  }

  /** Has the tables of every tenant swept, as the schedule does, and waits for its end. */
  async sweepAll(): Promise<Sweep> {
    const { sweep } = await this.evaluator.client.runSweep(
      { waitSeconds: 50 },
      { deadlineMs: 55_000 },
    );
    return there(sweep);
  }

  /** Every row of every table of the database but the leases, which are renewed all the time. */
  async contents(): Promise<readonly unknown[]> {
    const { rows: names } = await this.pool.query<{ name: string }>(
      `select format('%I.%I', schemaname, relname) as name from pg_stat_user_tables
       where relname not in ('lease') order by 1`,
    );
    return Promise.all(
      names.map(async ({ name }) => [
        name,
        (await this.pool.query(`select t::text from ${name} t order by 1`)).rows,
      ]),
    );
  }

  /** Runs `work` while the broker is away. */
  async withoutBroker(work: () => Promise<void>): Promise<void> {
    const broker = there(this.#broker);
    await broker.stop();
    try {
      await work();
    } finally {
      await broker.start();
    }
  }

  /** Tables of one environment, the first one used longest ago, `days` days and more; their ids. */
  async tables(environmentId: string, count: number, days = 300, init: TableInit = {}) {
    const made: string[] = [];
    for (let nth = 0; nth < count; nth++) {
      const at = timestampFromDate(daysAgo(days + count - nth));
      const { tableId } = await this.publishers.table({
        environmentId,
        name: `t${nth}`,
        createdAt: at,
        lastChangedAt: at,
        ...init,
      });
      made.push(tableId);
    }
    return made;
  }

  /** The tables that sweeps have issued, in order. */
  issued(): readonly string[] {
    return this.catalog.due.map(({ tableId }) => tableId);
  }

  async #open(): Promise<void> {
    await there(this.#db).clear();
    this.#broker = await testNats();
    this.#publishers = await Publishers.connect(this.#broker.url);
    this.verdict = () => null;
    this.#catalog = playCatalog(this.#publishers, ({ tableId }) => this.verdict(tableId));
  }

  async #close(): Promise<void> {
    await this.stop();
    await this.#catalog?.stop();
    await this.#publishers?.close();
    await this.#broker?.close();
  }
}

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("it is not there yet");
  return value;
}
