import { createHash, hash } from "node:crypto";
const N = 50000;
const text = '{"actor":"ana","at":"2026-03-01T00:00:00.000Z","details":{"retention":{"days":30,"source":"table"}},"id":"0197f3a0-0000-7000-8000-000000000001","outcome":"done","reason":"retention","recorded_at":"2026-03-01T00:00:01.000Z","resource":{"environment":"dev","id":"0197f3a0-0000-7000-8000-0000000000aa","kind":"table","name":"bronze.trial"},"run_id":"0197f3a0-0000-7000-8000-0000000000bb","seq":"1","service":"catalog","source":"lapse.catalog","source_sequence":"7","tenant":"local","trace_id":"","type":"TABLE_DROPPED"}';
const prev = new Uint8Array(32);
function cpu(name: string, f: () => unknown) { for (let k=0;k<3;k++){ const s = process.cpuUsage(); f(); const e = process.cpuUsage(s); console.log(name, ((e.user + e.system) / N).toFixed(2), "µs each"); } }
cpu("createHash 2 updates", () => { for (let i = 0; i < N; i++) createHash("sha256").update(prev).update(text).digest(); });
cpu("hash concat", () => { for (let i = 0; i < N; i++) hash("sha256", Buffer.concat([prev, Buffer.from(text)]), "buffer"); });
const buf = Buffer.allocUnsafe(8192);
cpu("hash scratch", () => { for (let i = 0; i < N; i++) { buf.set(prev, 0); const n = buf.write(text, 32); hash("sha256", buf.subarray(0, 32 + n), "buffer"); } });
cpu("stringify x16", () => { let t = ""; for (let i = 0; i < N; i++) { t = ""; for (let k = 0; k < 16; k++) t += JSON.stringify("bronze.trial" + (k & 3)); } });
const d = new Date();
cpu("date x2", () => { let t = ""; for (let i = 0; i < N; i++) { t = d.toISOString() + d.toISOString(); } });
