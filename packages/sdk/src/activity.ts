import type { Http } from "./http.ts";
import type { Activity } from "./types.ts";

export function activityApi(http: Http) {
  return {
    /** Reports reads or changes of tables; all are accepted or none (T14). */
    report(events: Activity | readonly Activity[]): Promise<{ accepted: number }> {
      const body = Array.isArray(events) ? { events } : events;
      return http.send("POST", "api/v1/activity", { body });
    },
  };
}
