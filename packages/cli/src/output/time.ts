const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** `in 6 d 23 h`, `3 s ago`, `now`: the two largest units of the distance from `now`. */
export function distance(instant: Date, now: Date): string {
  const ms = instant.getTime() - now.getTime();
  const text = span(Math.abs(ms));
  if (text === "0 s") return "now";
  return ms > 0 ? `in ${text}` : `${text} ago`;
}

/** `2026-12-07 18:31:02Z (in 6 d 23 h)`; a dash for no instant. */
export function instantText(instant: Date | null | undefined, now = new Date()): string {
  return instant ? `${stamp(instant)} (${distance(instant, now)})` : "–";
}

/** `2026-12-07 18:31:02Z`. */
export function stamp(instant: Date): string {
  return `${instant.toISOString().slice(0, 19).replace("T", " ")}Z`;
}

function span(ms: number): string {
  const parts: string[] = [];
  let rest = ms;
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 || parts.length > 0) parts.push(count > 0 ? `${count} ${unit}` : "");
    if (parts.length === 2) break;
  }
  return parts.filter(Boolean).join(" ") || "0 s";
}
