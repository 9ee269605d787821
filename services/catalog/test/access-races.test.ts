import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { dropTable } from "../src/app/drop-table.ts";
import { grantTable, revokeTable } from "../src/app/grant-table.ts";
import { ANA, eachRefused, grant, refusals, somebody } from "./lab/access.ts";
import { gate, gatedCall, untilBlocked } from "./lab/gate.ts";
import { type Lab, openLab } from "./lab/lab.ts";
import { liveTable, newEnvironment, newPlace, tableById } from "./lab/tables.ts";

let lab: Lab;
let environment: string;
beforeAll(async () => {
  lab = await openLab("catalog-access-races");
  environment = await newEnvironment(lab);
});
afterAll(() => lab.close());

const aTable = () => liveTable(lab, newPlace(environment));
const gates = () => ({ begun: gate(), after: gate() });

test("T27 a grant that comes while the table is being dropped waits, and is then refused", async () => {
  const { tableId } = await aTable();
  const { begun, after } = gates();
  const drop = dropTable(lab.deps, gatedCall({ begun, after }), { kind: "id", tableId });
  await begun.passed;
  const refused = eachRefused([
    lab.access(ANA).grantTable({ ...tableById(tableId), subject: "ben", right: "read" }),
  ]);
  await untilBlocked(lab);
  after.open();
  await drop;
  expect(await refused).toMatchObject([{ reason: "TABLE_DROPPED" }]);
});

test("T6 a write that waits while its writer loses the right is refused, and recorded", async () => {
  const [table, who] = [await aTable(), somebody()];
  await grant(lab, table, who, "write");
  const { begun, after } = gates();
  const ref = { kind: "id", tableId: table.tableId } as const;
  const request = { table: ref, subject: who.subject, right: "write" } as const;
  const revoke = revokeTable(lab.deps, gatedCall({ begun, after }), request);
  await begun.passed;
  const refused = eachRefused([
    lab.as(who).updateTable({ ...tableById(table.tableId), description: "late" }),
  ]);
  await untilBlocked(lab);
  after.open();
  await revoke;
  expect(await refused).toMatchObject([{ reason: "RIGHT_MISSING" }]);
  expect(await refusals(lab, table.tableId, who)).toHaveLength(1);
});

test("T6 and one that waits while its writer gets the right is done", async () => {
  const [table, who] = [await aTable(), somebody()];
  const { begun, after } = gates();
  const ref = { kind: "id", tableId: table.tableId } as const;
  const request = { table: ref, subject: who.subject, right: "write" } as const;
  const granting = grantTable(lab.deps, gatedCall({ begun, after }), request);
  await begun.passed;
  const write = lab.as(who).updateTable({ ...tableById(table.tableId), description: "late" });
  await untilBlocked(lab);
  after.open();
  await granting;
  expect((await write).table).toMatchObject({ description: "late" });
});

test("changes of access made at once are all there, each with its decision", async () => {
  const { tableId } = await aTable();
  const subjects = Array.from({ length: 12 }, () => somebody().subject);
  await Promise.all(
    subjects.map((subject) =>
      lab.access(ANA).grantTable({ ...tableById(tableId), subject, right: "read" }),
    ),
  );
  const { access } = await lab.access(ANA).getTableAccess(tableById(tableId));
  expect(access?.grants.map(({ subject }) => subject)).toEqual([...subjects].sort());
  expect(await lab.decisions(tableId)).toHaveLength(13);
});
