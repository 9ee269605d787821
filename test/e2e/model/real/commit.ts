import { type CallOptions, newId } from "@lapse/kit";
import { CommitOperation } from "@lapse/proto/catalog";
import type { Aim, Operation } from "../rules/operation.ts";
import { refTo } from "./aim.ts";
import type { Stack } from "./stack.ts";
import { type Answer, note, type Subject } from "./subject.ts";

const ROWS = 10;

/** The rows and files of a commit: ten in one new file; a maintenance writes all there are anew. */
export function committed({ files, idOf }: Subject, operation: Operation, aim: Aim | undefined) {
  if (operation.kind !== "commit") return {};
  if (operation.commit !== "maintain") return { rows: ROWS, files: 1 };
  const tableId = aim?.by === "name" ? idOf(aim.namespace, aim.name) : aim?.tableId;
  return { rows: files.get(tableId ?? "")?.rows ?? 0, files: 1 };
}

const COMMITS = {
  append: CommitOperation.APPEND,
  replace: CommitOperation.REPLACE,
  maintain: CommitOperation.MAINTAIN,
} as const;

const CONTENT = Buffer.from("PAR1 rows PAR1");

/** Puts a file in its place and commits it. */
export async function commit(
  { catalog, store }: Stack,
  subject: Subject,
  operation: Extract<Operation, { kind: "commit" }>,
  { aim, holdId, as }: { aim: Aim | undefined; holdId: string | undefined; as: CallOptions },
): Promise<Answer> {
  const { rows = 0, files = 1 } = committed(subject, operation, aim);
  const path = `data/${newId()}.parquet`;
  const tableId = aim?.by === "name" ? subject.idOf(aim.namespace, aim.name) : aim?.tableId;
  const place = subject.files.get(tableId ?? "");
  if (place && place.bucket !== "") await store.put(place.bucket, place.keyPrefix + path, CONTENT);
  const { table } = await catalog.commitTable(
    {
      ...refTo(subject, aim),
      operation: COMMITS[operation.commit],
      files: [{ path, byteSize: BigInt(CONTENT.length), rowCount: BigInt(rows) }],
      holdId: holdId ?? "",
    },
    as,
  );
  note(subject, table);
  return { rows, files };
}
