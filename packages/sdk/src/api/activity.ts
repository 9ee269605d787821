import type { Http, WriteOptions } from "../http/http.ts";
import type { Activity } from "../types/operations.ts";

/** Uses of tables, reported over REST; over NATS it is an `ActivityPublisher` that does so. */
export function activityApi(http: Http) {
  return {
    /** Reports reads or changes of tables, at most 10,000; all are accepted or none (T14). */
    async report(
      events: Activity | readonly Activity[],
      options?: WriteOptions,
    ): Promise<{ readonly accepted: number }> {
      const body = Array.isArray(events) ? { events } : events;
      const answer = await http.send("POST", "api/v1/activity", { body, options });
      return answer as { accepted: number };
    },
  };
}
