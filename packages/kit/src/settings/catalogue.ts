import {
  absolutePath,
  duration,
  httpUrl,
  logLevel,
  natsUrls,
  oneOf,
  onOff,
  peerUrl,
  postgresUrl,
  publicKey,
  rotating,
  share,
  text,
  whole,
} from "./kinds.ts";
import { fileable, optional, secret, setting } from "./setting.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
const port = whole(0, 65_535);

/**
 * Every setting of every service, because all services are started with the same variables: a key that
 * one of them does not know is a misspelt key. `tables.undoDays` is `LAPSE_TABLES__UNDO_DAYS`.
 */
export const SETTINGS = {
  env: setting(
    oneOf("development", "test", "production"),
    "Where the system runs; production refuses what is only for trying out.",
    "development",
  ),
  service: {
    host: setting(text, "Address that the servers listen on.", "127.0.0.1"),
    grpcPort: setting(port, "Port of gRPC; 0 takes a free one.", "7401"),
    operationsPort: setting(
      port,
      "Port of `/healthz`, `/readyz` and `/metrics`; 0 takes a free one.",
      "7501",
    ),
    httpPort: setting(port, "Port of the gateway's REST API and console.", "8080"),
  },
  database: {
    url: secret(postgresUrl, "The service's own PostgreSQL database."),
    poolSize: setting(whole(1, 500), "Connections to it, at most.", "10"),
  },
  nats: {
    url: secret(natsUrls, "The NATS servers."),
    replicas: setting(whole(1, 5), "Copies kept of each stream; 3 on a cluster.", "1"),
  },
  auth: {
    jwksUrl: fileable(httpUrl, "Where the keys that sign tokens are published."),
    publicKey: fileable(publicKey, "The one key that signs tokens, instead of a JWKS URL."),
    issuer: fileable(text, "Who must have issued a token."),
    audience: fileable(text, "Who a token must be meant for."),
    serviceToken: secret(
      rotating,
      "The token this service shows to the others; a file is read again when it is replaced.",
    ),
  },
  peers: {
    catalogUrl: setting(peerUrl, "gRPC of the catalog.", "http://127.0.0.1:7401"),
    retentionPolicyUrl: setting(peerUrl, "gRPC of retention-policy.", "http://127.0.0.1:7402"),
    lifecycleEvaluatorUrl: setting(
      peerUrl,
      "gRPC of the lifecycle-evaluator.",
      "http://127.0.0.1:7403",
    ),
    entityRetentionRunnerUrl: setting(
      peerUrl,
      "gRPC of the entity-retention-runner.",
      "http://127.0.0.1:7404",
    ),
    auditUrl: setting(peerUrl, "gRPC of audit.", "http://127.0.0.1:7405"),
  },
  objectStore: {
    kind: setting(oneOf("file", "s3"), "A directory, or a store that speaks S3.", "file"),
    path: optional(absolutePath, "The directory (`file`)."),
    endpoint: optional(httpUrl, "The store's address (`s3`); AWS when not given."),
    region: setting(text, "The store's region (`s3`).", "us-east-1"),
    accessKeyId: secret(text, "Access key (`s3`); the SDK's own chain when not given."),
    secretAccessKey: secret(text, "Its secret (`s3`)."),
    forcePathStyle: setting(
      onOff,
      "Whether the bucket goes into the path rather than the host name (`s3`).",
      "false",
    ),
  },
  time: {
    daySeconds: setting(
      whole(1, 86_400),
      "Length of a retention day, shortened to try things out; calendar days stay real days.",
      "86400",
    ),
  },
  tables: {
    expiryWarningDays: setting(
      whole(1, 3_650),
      "How far ahead a table counts as expiring soon, in retention days.",
      "7",
    ),
    maxExpiriesPerSweep: setting(
      whole(1, 1_000_000),
      "Tables that one sweep drops, at most; the most overdue first.",
      "100",
    ),
    undoDays: setting(
      whole(0, 3_650),
      "How long a dropped table's files are kept, in retention days; an expired one's at least one.",
      "7",
    ),
    holdTtl: setting(
      duration(SECOND, 30 * DAY),
      "When a writer's hold ends without a heartbeat.",
      "1h",
    ),
    maxExpiryShare: setting(
      share,
      "Share of an environment's tables above which a sweep waits for an admin to confirm.",
      "0.5",
    ),
  },
  tableReads: {
    keepDays: setting(
      whole(1, 3_650),
      "How long the history of reads per day is kept; the last read is remembered for good.",
      "90",
    ),
  },
  run: {
    sweepInterval: setting(
      whole(0, 604_800),
      "Seconds between sweeps; 0 turns them off, and nothing expires.",
      "3600",
    ),
  },
  files: {
    passInterval: setting(
      whole(0, 604_800),
      "Seconds between passes over file buckets; 0 turns them off.",
      "86400",
    ),
    startDelay: setting(whole(0, 86_400), "Seconds from start to the first pass.", "300"),
    maxDeletesPerSecond: setting(
      whole(0, 1_000_000),
      "Files deleted in a second, at most; 0 sets no limit.",
      "0",
    ),
  },
  entities: {
    every: setting(duration(0, 365 * DAY), "Time between runs over entities; 0 is off.", "0"),
    batchSize: setting(
      whole(1, 100_000),
      "Rows in a statement, where the entity does not say.",
      "1000",
    ),
    grace: setting(
      duration(0, 365 * DAY),
      "How long archived rows stay in the primary table, where the run does not say.",
      "1h",
    ),
  },
  handoff: {
    maxAttempts: setting(whole(1, 100), "Tries before a handed-off row stays failed.", "5"),
  },
  log: {
    level: setting(logLevel, "The least level that is logged.", "info"),
  },
  otel: {
    endpoint: optional(httpUrl, "Where traces go (OTLP over HTTP); none when not given."),
  },
  outbox: {
    keepDays: setting(
      whole(1, 3_650),
      "How long sent events are kept for replay, in calendar days.",
      "7",
    ),
  },
} as const;
