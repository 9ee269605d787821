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
    const place = (field: string): string => {
      const found = Object.entries(places).find(([start]) => field.startsWith(start));
      return found ? found[1] + field.slice(found[0].length) : field;
    };
    const violations = error.violations.map(({ field, description }) => ({
      field: place(field),
      description,
    }));
    const { kind, reason, details, cause } = error;
    // The sentence names the fault too, where there is one.
    const message = place(error.message);
    throw new LapseError({ kind, reason, message, details, violations, cause });
  }
}
