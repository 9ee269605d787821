/** Passes lines on, but the same line only once in `withinMs`: what repeats is in the log. */
export function quietRepeats(
  report: (line: string) => void,
  withinMs: number,
  now: () => number = () => performance.now(),
): (line: string) => void {
  const shownAt = new Map<string, number>();
  return (line) => {
    const time = now();
    for (const [old, at] of shownAt) {
      if (time - at >= withinMs) shownAt.delete(old);
    }
    if (shownAt.has(line)) return;
    shownAt.set(line, time);
    report(line);
  };
}
