import { v7, validate } from "uuid";

/** A new UUIDv7: unique everywhere, rising within this process, in lower case. */
export const newId = (): string => v7();

/** Whether `value` is a UUID of any version, so that PostgreSQL will take it as one. */
export const isId = (value: string): boolean => validate(value);
