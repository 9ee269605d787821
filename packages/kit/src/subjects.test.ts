import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  commonFilter,
  decisionSubject,
  matchesSubject,
  parkedSubject,
  SUBJECTS,
  streamOf,
  subjectToken,
} from "./subjects.ts";

const text = fc.string({ minLength: 1, unit: "binary" });
const token = fc.stringMatching(/^[a-c]$/);
const subject = fc.array(token, { minLength: 1, maxLength: 4 }).map((tokens) => tokens.join("."));
const filter = fc
  .tuple(fc.array(fc.oneof(token, fc.constant("*")), { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([tokens, open]) => [...tokens, ...(open ? [">"] : [])].join("."));

describe("subjectToken", () => {
  test("whatever the value, it is one token that no subscription takes for more", () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(subjectToken(value)).toMatch(/^[A-Za-z0-9_=-]+$/);
      }),
    );
  });

  test("two values never share a token", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(subjectToken(a) === subjectToken(b)).toBe(a === b);
      }),
    );
  });

  test("leaves plain names as they are and escapes the rest", () => {
    expect(subjectToken("TABLE_DROPPED")).toBe("TABLE_DROPPED");
    expect(subjectToken("a.b *>ä")).toBe("a=2Eb=20=2A=3E=C3=A4");
  });

  test("refuses an empty value", () => {
    expect(() => subjectToken("")).toThrow(expect.objectContaining({ kind: "invalid" }));
  });
});

describe("matchesSubject", () => {
  test.each([
    ["a.b", "a.b", true],
    ["a.*", "a.b", true],
    ["a.*", "a.b.c", false],
    ["a.>", "a.b.c", true],
    ["a.>", "a", false],
    [">", "a", true],
    ["a.b", "a", false],
    ["a", "a.b", false],
  ])("%s and %s: %s", (pattern, value, expected) => {
    expect(matchesSubject(pattern, value)).toBe(expected);
  });
});

describe("commonFilter", () => {
  test("covers every subject that one of the filters stands for", () => {
    fc.assert(
      fc.property(filter, fc.array(filter, { maxLength: 3 }), subject, (first, others, value) => {
        const all = [first, ...others];
        if (all.some((each) => matchesSubject(each, value))) {
          expect(matchesSubject(commonFilter([first, ...others]), value)).toBe(true);
        }
      }),
    );
  });

  test("is a single filter itself, and as narrow as the shared start allows", () => {
    expect(commonFilter(["catalog.table.created"])).toBe("catalog.table.created");
    expect(commonFilter(["catalog.table.created", "catalog.table.changed"])).toBe(
      "catalog.table.>",
    );
    expect(commonFilter(["catalog.table.created", "catalog.environment.*"])).toBe("catalog.>");
    expect(commonFilter(["a.b", "a.b"])).toBe("a.b");
    expect(commonFilter(["a", "a.b"])).toBe(">");
  });
});

describe("streamOf", () => {
  test("knows the stream of every subject of Lapse", () => {
    expect(streamOf(SUBJECTS.activity.table.read)).toBe("ACTIVITY");
    expect(streamOf(SUBJECTS.expiry.tableDue)).toBe("EXPIRY");
    expect(streamOf(decisionSubject("catalog", "TABLE_DROPPED"))).toBe("DECISION");
    expect(streamOf(parkedSubject("ACTIVITY"))).toBe("PARKED");
    expect(streamOf("elsewhere.table")).toBeUndefined();
  });
});
