import { LapseError } from "@lapse/kit";

/**
 * The answer of a service; where it refuses, its faults point to where they are in the request of ours, not in the
 * message to the service. `places` gives, for the beginning of a pointer, what stands in its place; the first that
 * fits counts.
 */
export async function pointedAt<T>(
  answer: Promise<T>,
  places: Readonly<Record<string, string>>,
): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof LapseError) || error.violations.length === 0) throw error;
    const violations = error.violations.map(({ field, description }) => {
      const [from, to] = Object.entries(places).find(([start]) => field.startsWith(start)) ?? [
        "",
        "",
      ];
      return { field: to + field.slice(from.length), description };
    });
    const { kind, reason, message, details, cause } = error;
    throw new LapseError({ kind, reason, message, details, violations, cause });
  }
}
