import { createAuthenticator, createGrpcServer, createMetrics } from "@lapse/kit";
import { OutboxService } from "@lapse/proto/common";
import type { TestTokens } from "@lapse/test-kit";
import { quiet } from "./database.ts";
import type { Numbered, Publishers } from "./publishers.ts";

/** Servers of the outboxes, and the settings that lead to them. */
export interface OutboxServers {
  readonly env: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

/** Serves the outboxes of the catalog and of retention-policy. */
export async function serveOutboxes(
  publishers: Publishers,
  tokens: TestTokens,
): Promise<OutboxServers> {
  const [catalog, policy] = await Promise.all([
    serve(publishers, "CATALOG", tokens),
    serve(publishers, "POLICY", tokens),
  ]);
  return {
    env: {
      LAPSE_PEERS__CATALOG_URL: catalog.url,
      LAPSE_PEERS__RETENTION_POLICY_URL: policy.url,
    },
    async stop() {
      await Promise.all([catalog.stop(), policy.stop()]);
    },
  };
}

async function serve(
  publishers: Publishers,
  own: Numbered["stream"],
  tokens: TestTokens,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const events = () => publishers.outbox.filter(({ stream }) => stream === own);
  const replayed = ({ subject, headers, body }: Numbered) => ({ subject, headers, body });
  const server = createGrpcServer({
    services: [
      [
        OutboxService,
        {
          getOutboxHead: async () => ({
            heads: [{ stream: own, lastSequence: BigInt(events().length), firstKeptSequence: 1n }],
          }),
          async *replayOutbox({ fromSequence, toSequence }) {
            for (const event of events()) {
              if (event.sequence >= fromSequence && event.sequence <= toSequence)
                yield replayed(event);
            }
          },
        },
      ],
    ],
    authenticate: createAuthenticator({ publicKey: tokens.publicKey }),
    log: quiet,
    metrics: createMetrics("test-outboxes"),
  });
  const port = await server.listen("127.0.0.1", 0);
  server.setServing(true);
  return { url: `http://127.0.0.1:${port}`, stop: () => server.stop() };
}
