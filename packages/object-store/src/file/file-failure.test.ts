import { readFile } from "node:fs/promises";
import { describe, expect, test } from "@jest/globals";
import { ObjectStoreError } from "../errors.ts";
import { attempt, fileFailure } from "./file-failure.ts";

const failed = (code: string) =>
  Object.assign(new Error(`${code}: as the system says`), { code, syscall: "write" });

describe("fileFailure", () => {
  test.each([
    ["ENOSPC", "the disk is full"],
    ["EDQUOT", "the disk quota is used up"],
    ["EROFS", "the file system is read-only"],
    ["EACCES", "permission denied"],
    ["EMFILE", "the process has too many files open"],
    ["EIO", "the disk reports an input/output error"],
    ["ESTALE", "ESTALE: as the system says"],
  ])("%s is unavailable, with a sentence and its cause", (code, reason) => {
    const error = failed(code);
    expect(fileFailure(error, 'put "k"')).toMatchObject({
      kind: "unavailable",
      message: `Cannot put "k": ${reason}.`,
      cause: error,
    });
  });

  test("a path beyond the file system's limit is invalid: no repetition helps", () => {
    expect(fileFailure(failed("ENAMETOOLONG"), 'put "k"')).toMatchObject({ kind: "invalid" });
  });

  test("an error that is no file operation's stays as it is", () => {
    const defect = new TypeError("x is not a function");
    const refused = new ObjectStoreError("precondition", "Taken.");
    expect(fileFailure(defect, "put")).toBe(defect);
    expect(fileFailure(refused, "put")).toBe(refused);
  });

  test("attempt reports the failure of a real file operation", async () => {
    await expect(attempt("look", () => readFile(import.meta.dirname))).rejects.toMatchObject({
      name: "ObjectStoreError",
      kind: "unavailable",
    });
  });
});
