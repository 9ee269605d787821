import { databaseClock, type Queryable } from "@lapse/kit";

/** The time of this transaction by the database's clock, to the millisecond; no other time decides anything. */
export const transactionTime = (tx: Queryable): Promise<Date> => databaseClock(tx).now();
