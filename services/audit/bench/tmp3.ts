import { createHash, hash } from "node:crypto";
import { canonicalJson } from "../src/domain/canonical-json.ts";
import { EMPTY_CHAIN, extendChain } from "../src/domain/chain.ts";
import { aDecision } from "../test/lab/a-decision.ts";
const N = 20000;
const ds = Array.from({ length: N }, (_, n) => aDecision({ sourceSequence: BigInt(n), actor: "ana" }));
function cpu(name: string, f: () => unknown) { for (let k=0;k<4;k++){ const s = process.cpuUsage(); const t0=performance.now(); f(); const e = process.cpuUsage(s); console.log(name, ((e.user + e.system) / N).toFixed(2), "µs cpu", ((performance.now()-t0)*1000/N).toFixed(2)); } }
const at = new Date();
cpu("chain500", () => { for (let k = 0; k < N; k += 500) extendChain(EMPTY_CHAIN, ds.slice(k, k + 500), at); });
const q = JSON.stringify;
const form = (record: any) => `{"actor":${q(record.actor)},"at":"${record.at.toISOString()}","details":${canonicalJson(record.details)},"id":${q(record.id)},"outcome":${q(record.outcome)},"reason":${q(record.reason)},"resource":{"environment":${q(record.resource.environment)},"id":${q(record.resource.id)},"kind":${q(record.resource.kind)},"name":${q(record.resource.name)}},"run_id":${q(record.runId)},"seq":"${record.seq}","service":${q(record.service)},"source":${q(record.source)},"tenant":${q(record.tenant)},"type":${q(record.type)}}`;
cpu("form", () => { for (const d of ds) form(d); });
cpu("details", () => { for (const d of ds) canonicalJson(d.details); });
cpu("form+createHash", () => { const p = new Uint8Array(32); for (const d of ds) createHash("sha256").update(p).update(form(d)).digest(); });
const buf = Buffer.allocUnsafe(65536);
cpu("form+hash", () => { for (const d of ds) { const n = buf.write(form(d), 32); hash("sha256", buf.subarray(0, 32 + n), "buffer"); }});
cpu("spread", () => { const out = []; for (const d of ds) out.push({ ...d, seq: 1n, hash: 1 }); });
