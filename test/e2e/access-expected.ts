import { SUBJECTS, type SubjectName } from "./access-subjects.ts";

/**
 * Who may do what (T6, T7, T11). Each cell is how the call is answered:
 *
 * - `ok`: done. For a list: it shows the table, or its environment.
 * - `--`: a list that does not show it.
 * - `x`: 403 `RIGHT_MISSING` for want of the operation's right, recorded. `r`, `d`: likewise, for want of `table.read`,
 *   `table.drop`.
 * - a number: that status; 404 as if there were no such thing.
 */
const TEXT = `
                             owner reader writer engineer admin super key g-read g-write g-drop e-writer e-admin elsewhere nobody stranger expired revoked
get table                    ok    ok     ok     ok       ok    ok    ok  ok     ok      ok     ok       ok      x         x      404      401     401
get table by id              ok    ok     ok     ok       ok    ok    ok  ok     ok      ok     ok       ok      x         x      404      401     401
list tables                  ok    ok     ok     ok       ok    ok    ok  ok     ok      ok     ok       ok      x         x      404      401     401
list files                   ok    ok     ok     ok       ok    ok    ok  ok     ok      ok     ok       ok      x         x      404      401     401
list reads                   ok    ok     ok     ok       ok    ok    ok  ok     ok      ok     ok       ok      x         x      404      401     401
list holds                   ok    ok     ok     ok       ok    ok    ok  ok     ok      ok     ok       ok      x         x      404      401     401
show retention               ok    ok     ok     ok       ok    ok    ok  ok     ok      ok     ok       ok      x         x      404      401     401
list expiring                ok    ok     ok     ok       ok    ok    ok  ok     ok      ok     ok       ok      x         x      404      401     401
create table                 x     x      x      ok       ok    ok    x   x      x       x      x        ok      x         x      404      401     401
commit                       ok    x      ok     ok       ok    ok    ok  x      ok      x      ok       ok      x         x      404      401     401
create hold                  ok    x      ok     ok       ok    ok    ok  x      ok      x      ok       ok      x         x      404      401     401
describe                     ok    x      ok     ok       ok    ok    ok  x      ok      x      ok       ok      x         x      404      401     401
rename                       ok    x      x      ok       ok    ok    x   x      x       ok     x        ok      x         x      404      401     401
expire sooner                ok    x      x      ok       ok    ok    x   x      x       ok     x        ok      r         r      404      401     401
expire later                 ok    d      ok     ok       ok    ok    ok  d      ok      x      ok       ok      r         r      404      401     401
expire never                 ok    x      ok     ok       ok    ok    ok  x      ok      x      ok       ok      r         r      404      401     401
expire at all                ok    x      x      ok       ok    ok    x   x      x       ok     x        ok      r         r      404      401     401
drop                         ok    x      x      ok       ok    ok    x   x      x       ok     x        ok      x         x      404      401     401
list dropped                 ok    --     --     ok       ok    ok    --  --     --      --     --       ok      x         x      404      401     401
undrop                       ok    x      x      ok       ok    ok    x   x      x       x      x        ok      x         x      404      401     401
report read                  ok    ok     ok     ok       ok    ok    ok  ok     ok      ok     ok       ok      x         x      404      401     401
report write                 ok    x      ok     ok       ok    ok    ok  x      ok      x      ok       ok      r         r      404      401     401
report maintenance           ok    x      ok     ok       ok    ok    ok  x      ok      x      ok       ok      r         r      404      401     401
report scan                  ok    ok     ok     ok       ok    ok    ok  ok     ok      ok     ok       ok      x         x      404      401     401
report commit                ok    x      ok     ok       ok    ok    ok  x      ok      x      ok       ok      r         r      404      401     401
show access                  ok    x      x      x        ok    ok    x   x      x       x      x        ok      x         x      404      401     401
grant                        ok    x      x      x        ok    ok    x   x      x       x      x        ok      x         x      404      401     401
revoke                       ok    x      x      x        ok    ok    x   x      x       x      x        ok      x         x      404      401     401
set filter                   ok    x      x      x        ok    ok    x   x      x       x      x        ok      x         x      404      401     401
set mask                     ok    x      x      x        ok    ok    x   x      x       x      x        ok      x         x      404      401     401
remove filter                ok    x      x      x        ok    ok    x   x      x       x      x        ok      x         x      404      401     401
remove mask                  ok    x      x      x        ok    ok    x   x      x       x      x        ok      x         x      404      401     401
list environments            ok    ok     ok     ok       ok    ok    ok  ok     ok      ok     ok       ok      --        x      --       401     401
get environment              ok    ok     ok     ok       ok    ok    ok  ok     ok      ok     ok       ok      x         x      404      401     401
environment retention        ok    ok     ok     ok       ok    ok    ok  ok     ok      ok     ok       ok      x         x      404      401     401
list namespaces              x     ok     ok     ok       ok    ok    ok  x      x       x      ok       ok      x         x      404      401     401
create namespace             x     x      x      ok       ok    ok    x   x      x       x      x        ok      x         x      404      401     401
delete namespace             x     x      x      404      404   404   x   x      x       x      x        404     x         x      404      401     401
list projects                x     ok     ok     ok       ok    ok    ok  x      x       x      ok       ok      x         x      404      401     401
deploy project               x     x      x      ok       ok    ok    x   x      x       x      x        ok      x         x      404      401     401
undeploy project             x     x      x      404      404   404   x   x      x       x      x        404     x         x      404      401     401
list roles                   x     x      x      x        ok    ok    x   x      x       x      x        x       x         x      ok       401     401
grant role                   x     x      x      x        ok    ok    x   x      x       x      x        x       x         x      ok       401     401
grant role above all         x     x      x      x        x     ok    x   x      x       x      x        x       x         x      x        401     401
grant role here              x     x      x      x        ok    ok    x   x      x       x      x        ok      x         x      404      401     401
revoke role here             x     x      x      x        ok    ok    x   x      x       x      x        ok      x         x      404      401     401
list keys                    ok    ok     ok     ok       ok    ok    ok  ok     ok      ok     ok       ok      ok        ok     ok       401     401
create key                   x     ok     ok     ok       ok    ok    x   x      x       x      x        x       x         x      ok       401     401
revoke key                   x     x      x      x        ok    ok    x   x      x       x      x        x       x         x      404      401     401
list sweeps                  x     ok     ok     ok       ok    ok    ok  x      x       x      x        x       x         x      ok       401     401
run sweep dry                x     x      x      x        ok    ok    x   x      x       x      x        x       x         x      ok       401     401
run sweep                    x     x      x      x        ok    ok    x   x      x       x      x        x       x         x      ok       401     401
pause sweeps                 x     x      x      x        ok    ok    x   x      x       x      x        x       x         x      ok       401     401
resume sweeps                x     x      x      x        ok    ok    x   x      x       x      x        x       x         x      ok       401     401
list sweep holds             x     ok     ok     ok       ok    ok    ok  x      x       x      x        x       x         x      ok       401     401
confirm clock                x     x      x      x        ok    ok    x   x      x       x      x        x       x         x      ok       401     401
list decisions               x     x      x      x        ok    ok    x   x      x       x      x        x       x         x      ok       401     401
verify chain                 x     x      x      x        ok    ok    x   x      x       x      x        x       x         x      ok       401     401
list parked                  x     x      x      x        x     ok    x   x      x       x      x        x       x         x      x        401     401
create environment           x     x      x      x        ok    ok    x   x      x       x      x        x       x         x      ok       401     401
set environment retention    x     x      x      x        ok    ok    x   x      x       x      x        ok      r         r      404      401     401
clear environment retention  x     x      x      x        ok    ok    x   x      x       x      x        ok      r         r      404      401     401
protect                      x     x      x      x        ok    ok    x   x      x       x      x        ok      x         x      404      401     401
delete environment           x     x      x      x        409   409   x   x      x       x      x        409     x         x      404      401     401
`;

/** How one subject's call of one operation is answered. */
export interface Cell {
  readonly subject: SubjectName;
  readonly expected: string;
}

/** The rows of the matrix, in order. */
export const EXPECTED: readonly { readonly operation: string; readonly cells: readonly Cell[] }[] =
  parse(TEXT);

function parse(text: string) {
  const [head = "", ...rows] = text.split("\n").filter((line) => line.trim() !== "");
  const columns = head.trim().split(/ +/);
  if (columns.join() !== SUBJECTS.join()) throw new Error("the columns are not the subjects");
  return rows.map((row) => {
    const [operation = "", cells = ""] = row.split(/ {2,}(.*)/);
    const values = cells.trim().split(/ +/);
    if (values.length !== SUBJECTS.length)
      throw new Error(`${operation} has ${values.length} cells`);
    return {
      operation,
      cells: SUBJECTS.map((subject, at) => ({ subject, expected: values[at] ?? "" })),
    };
  });
}
