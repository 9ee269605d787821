/** The people who act; ana creates most of the tables and so owns them. */
export const PEOPLE = {
  ana: "data_engineer",
  eva: "data_engineer",
  will: "writer",
  rita: "reader",
  root: "admin",
} as const;
export type Person = keyof typeof PEOPLE;

/** An admin of another organisation. */
export const STRANGER = "sam";
export type Actor = Person | typeof STRANGER;

export type Right =
  | "table.read"
  | "table.write"
  | "table.create"
  | "table.drop"
  | "environment.manage";

const BY_ROLE: Readonly<Record<(typeof PEOPLE)[Person], readonly Right[]>> = {
  reader: ["table.read"],
  writer: ["table.read", "table.write"],
  data_engineer: ["table.read", "table.write", "table.create", "table.drop"],
  admin: ["table.read", "table.write", "table.create", "table.drop", "environment.manage"],
};

/** Whether somebody of this organisation may; the owner of a table may do anything with it. */
export const may = (person: Person, right: Right, owner?: string): boolean =>
  owner === person || BY_ROLE[PEOPLE[person]].includes(right);
