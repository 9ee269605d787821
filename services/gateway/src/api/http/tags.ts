/** The areas of the API, in the order of its documentation. */
export const TAGS = [
  { name: "Environments", description: "Named sets of tables, and the retention of all in one." },
  { name: "Tables", description: "Tables, their files and what keeps them from being dropped." },
  { name: "Retention", description: "When tables expire, by which rule, and what expires soon." },
  { name: "Access", description: "Who may do what, and keys for programs." },
  { name: "Activity", description: "What moves expiry later." },
  { name: "Sweeps", description: "The runs that find what is due." },
  {
    name: "Audit",
    description: "Every decision, taken or refused, in a chain that can be verified.",
  },
  { name: "Operations", description: "How the system does, and messages that were set aside." },
] as const;

export type Tag = (typeof TAGS)[number]["name"];
