import { invalid } from "@lapse/kit";
import type { Checked, RetentionFault } from "@lapse/rules";

/**
 * The value that passed its checks.
 *
 * @throws invalid `RETENTION_INVALID` (T10), naming the field at fault
 */
export function checkRule<Value>(checked: Checked<Value, RetentionFault>): Value {
  if (checked.ok) {
    return checked.value;
  }
  const { field, message } = checked.fault;
  throw invalid("RETENTION_INVALID", message, {
    violations: [{ field: field === null ? "" : `/${field}`, description: message }],
  });
}
