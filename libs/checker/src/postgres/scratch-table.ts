import type { Reader } from './reader.js';

const BATCH_ROWS = 1_000;

/** A temporary table that is filled in batches: what was read from the broker, or folded here, then compared by the server. */
export class ScratchTable<Row extends object> {
  private readonly waiting: Row[] = [];

  private constructor(
    private readonly reader: Reader,
    private readonly name: string,
    private readonly columns: string,
  ) {}

  /** `columns` as in CREATE TABLE, without constraints; arrays as json. */
  static async create<Row extends object>(reader: Reader, name: string, columns: string): Promise<ScratchTable<Row>> {
    await reader.query(`CREATE TEMP TABLE ${name} (${columns})`);
    return new ScratchTable<Row>(reader, name, columns);
  }

  async add(row: Row): Promise<void> {
    this.waiting.push(row);
    if (this.waiting.length >= BATCH_ROWS) await this.flush();
  }

  /** Writes what is left, and lets the planner know the size. */
  async finish(): Promise<void> {
    await this.flush();
    await this.reader.query(`ANALYZE ${this.name}`);
  }

  private async flush(): Promise<void> {
    const rows = this.waiting.splice(0);
    if (rows.length === 0) return;
    await this.reader.query(`INSERT INTO ${this.name} SELECT * FROM json_to_recordset($1::json) AS r(${this.columns})`, [
      JSON.stringify(rows),
    ]);
  }
}
