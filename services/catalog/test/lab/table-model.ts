/** What one table should be, kept beside the real one. */
export interface ModelTable {
  readonly id: string;
  state: "live" | "dropped" | "purging" | "purged";
  changeVersion: bigint;
  retentionVersion: bigint;
  /** In days of the model's clock. */
  undoUntil: number;
  heldUntil: number;
  /** Rises with every drop of any table. */
  dropNumber: number;
  readonly files: Set<string>;
}

/** All generations of one name, and a clock in days. */
export class TableModel {
  today = 0;
  /** Whether a current project builds a table of the name (T20). */
  isDeployed = false;
  #drops = 0;
  readonly tables: ModelTable[] = [];

  add(id: string): void {
    this.tables.push({
      id,
      state: "live",
      changeVersion: 1n,
      retentionVersion: 0n,
      undoUntil: 0,
      heldUntil: 0,
      dropNumber: 0,
      files: new Set(),
    });
  }

  get live(): ModelTable | undefined {
    return this.tables.find(({ state }) => state === "live");
  }

  isHeld(table: ModelTable): boolean {
    return table.heldUntil > this.today;
  }

  drop(table: ModelTable, days: number): void {
    table.state = "dropped";
    table.changeVersion += 1n;
    table.undoUntil = this.today + days;
    table.dropNumber = ++this.#drops;
  }

  /** The generation that was dropped last and not brought back. */
  get lastDropped(): ModelTable | undefined {
    const dropped = this.tables.filter(({ state }) => state !== "live");
    return dropped.sort((a, b) => b.dropNumber - a.dropNumber)[0];
  }

  /** Why an undrop of the table is refused, or undefined. */
  undropRefusal(table: ModelTable): string | undefined {
    if (table.state === "live") return "TABLE_NOT_DROPPED";
    if (table.state === "purging") return "TABLE_PURGING";
    if (table.state === "purged" || this.today >= table.undoUntil) return "UNDO_PERIOD_OVER";
    return this.live ? "NAME_TAKEN" : undefined;
  }
}
