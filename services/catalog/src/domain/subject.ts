import { isRole } from "@lapse/kit";

/** As long as the subject of a token can be. */
const MAX_SUBJECT = 200;
const INVISIBLE = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;
const ROLE_PREFIX = "role:";

/** What a filter or mask applies to that names nobody: all but the owner and the admins. */
export const EVERYBODY = "*";

/** What is wrong with the subject that something is given to, or undefined. */
export function subjectFault(subject: string): string | undefined {
  if (subject === "" || subject.length > MAX_SUBJECT || INVISIBLE.test(subject)) {
    return `a subject has 1 to ${MAX_SUBJECT} visible characters, as in its token`;
  }
  if (subject.includes("*")) return "a subject names one person, service or key: no *";
  if (subject.startsWith(ROLE_PREFIX))
    return "a subject is no role: bind people to the role instead";
  return undefined;
}

/** What is wrong with whom a filter or mask applies to, or undefined. */
export function appliesToFault(appliesTo: string): string | undefined {
  if (appliesTo === EVERYBODY) return undefined;
  if (appliesTo.startsWith(ROLE_PREFIX)) {
    return isRole(appliesTo.slice(ROLE_PREFIX.length))
      ? undefined
      : "there is no such role: reader, writer, data_engineer, admin or superadmin";
  }
  return subjectFault(appliesTo) && "a subject, role:<role>, or * for everybody";
}

/** How a filter or mask names the holders of a role. */
export const holdersOf = (role: string): string => `${ROLE_PREFIX}${role}`;
