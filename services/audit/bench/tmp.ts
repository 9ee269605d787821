import { DecisionSchema } from "@lapse/proto/events";
import { extendChain, EMPTY_CHAIN } from "../src/domain/chain.ts";
import { toDecision } from "../src/messages/decision.ts";
import { sortArrived } from "../src/domain/arrival.ts";
import { insertDecisions } from "../src/store/decision-record.ts";
import { aDecision } from "../test/lab/a-decision.ts";
import { deliveryOf, sentDecision } from "../test/lab/delivery.ts";
import pg from "pg";
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
(globalThis as any).prep = require("pg/lib/utils").prepareValue;
const N = 20000;
const deliveries = Array.from({ length: N }, (_, n) => { const { resource, details, runId, ...g } = aDecision({ sourceSequence: BigInt(n), actor: "ana" }); return deliveryOf(sentDecision({ id: g.id, actor: g.actor, resource: { ...resource }, details, runId }), { source: g.source, sequence: g.sourceSequence ?? 0n }); });
function cpu(name: string, f: () => unknown) { const s = process.cpuUsage(); const r = f(); const e = process.cpuUsage(s); console.log(name, ((e.user + e.system) / N).toFixed(1), "µs each"); return r; }
for (let i = 0; i < 3; i++) {
  const messages = cpu("decode", () => deliveries.map((d) => d.decode(DecisionSchema))) as any[];
  const decisions = cpu("toDecision", () => messages.map((m, i) => toDecision(m, { source: "lapse.catalog", sourceSequence: BigInt(i) }))) as any[];
  const sorted = cpu("sort", () => sortArrived(decisions, [])) as any;
  cpu("chain500", () => { for (let k = 0; k < N; k += 500) extendChain(EMPTY_CHAIN, sorted.fresh.slice(k, k + 500), new Date()); }); const records = cpu("chain", () => extendChain(EMPTY_CHAIN, sorted.fresh, new Date())) as any[];
  let values: any[] = [];
  cpu("columns", () => { insertDecisions({ query: async (t: any, v: any) => { values = v; return {} as any; } }, records); });
  cpu("pg", () => values.map((v) => (pg as any).types && (globalThis as any).prep(v)));
}
