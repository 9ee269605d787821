import type { DecisionRecord } from "@lapse/sdk";
import { printable, table } from "./print.ts";
import { stamp } from "./time.ts";

export function decisionTable(records: readonly DecisionRecord[]): string {
  if (records.length === 0) return "No decisions match.";
  return table(
    ["#", "when", "decision", "about", "who", "why"],
    records.map((record) => [
      String(record.seq),
      stamp(record.at),
      record.type,
      aboutText(record),
      record.actor ?? `(${record.service})`,
      whyText(record),
    ]),
  );
}

export function decisionLine(record: DecisionRecord): string {
  const who = record.actor ?? `(${record.service})`;
  return printable(
    `${stamp(record.at)}  ${record.type}  ${aboutText(record)}  ${who}  ${whyText(record)}`,
  );
}

function aboutText({ resource }: DecisionRecord): string {
  const name = resource.name || resource.id;
  return resource.environment ? `${resource.environment}: ${name}` : `${resource.kind} ${name}`;
}

/** The outcome where it is not plain, the reason, and the details that explain it, in one line. */
function whyText(record: DecisionRecord): string {
  const parts = [record.outcome === "done" ? "" : record.outcome, record.reason];
  const retention = record.details.retention;
  if (isRecord(retention)) parts.push(retentionText(retention));
  else parts.push(ruleText(record.details), ...factsOf(record.details));
  return parts.filter(Boolean).join(", ");
}

/** Details that say what a decision was about beside its resource, in the order in which they read well. */
const TELLING = [
  "right",
  "role",
  "subject",
  "name",
  "column",
  "operator",
  "mask",
  "applies_to",
  "former_name",
  "version",
  "due",
  "tables",
  "note",
];

function factsOf(details: Readonly<Record<string, unknown>>): string[] {
  return TELLING.flatMap((name) => {
    const value = details[name];
    const told = typeof value === "string" || typeof value === "number";
    return told && value !== "" ? [`${name.replaceAll("_", " ")} ${value}`] : [];
  });
}

function retentionText(retention: Readonly<Record<string, unknown>>): string {
  const expired = stampOf(retention.expired_at);
  const active = stampOf(retention.last_activity_at);
  return [
    ruleText(retention),
    retention.source ? `set on the ${retention.source}` : "",
    retention.set_by ? `by ${retention.set_by}` : "",
    active ? `last activity ${active}` : "",
    expired ? `expired ${expired}` : "",
  ]
    .filter(Boolean)
    .join(", ");
}

function ruleText(rule: Readonly<Record<string, unknown>>): string {
  if (typeof rule.days === "number") return `${rule.days} ${rule.days === 1 ? "day" : "days"}`;
  if (typeof rule.on === "string") return `on ${rule.on}`;
  return "";
}

/** Details hold times as text, and whatever else a service wrote there. */
function stampOf(value: unknown): string {
  const at = typeof value === "string" ? new Date(value) : null;
  return at && !Number.isNaN(at.getTime()) ? stamp(at) : "";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
