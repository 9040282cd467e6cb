import pg from 'pg';

const PAGE_ROWS = 500;

/** bigint as number: turns, microseconds and counters stay below 2^53 by schema. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (id, format) =>
    id === pg.types.builtins.INT8 && format !== 'binary' ? Number : (pg.types.getTypeParser(id, format) as unknown),
};

/** One connection that reads everything in one snapshot, page by page. Temporary tables of its own are all that it writes. */
export class Reader {
  private cursors = 0;

  private constructor(private readonly client: pg.Client) {}

  static async open(url: string): Promise<Reader> {
    const client = new pg.Client({ connectionString: url, application_name: 'fleetmend-checker', types });
    client.on('error', () => undefined);
    await client.connect();
    return new Reader(client);
  }

  async query<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return (await this.client.query<Row>(sql, [...parameters])).rows;
  }

  async number(sql: string, parameters: readonly unknown[] = []): Promise<number> {
    const [row] = await this.query<Record<string, unknown>>(sql, parameters);
    return Number(Object.values(row ?? {})[0] ?? 0);
  }

  /** From here on every read sees the same moment. */
  async snapshot(): Promise<void> {
    await this.client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  }

  /** Rows of a query of any size, through a cursor of the server. Only inside a snapshot. */
  async *rows<Row extends object>(sql: string, parameters: readonly unknown[] = []): AsyncGenerator<Row> {
    this.cursors += 1;
    const cursor = `checker_${this.cursors}`;
    await this.client.query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`, [...parameters]);
    try {
      for (;;) {
        const { rows } = await this.client.query<Row>(`FETCH ${PAGE_ROWS} FROM ${cursor}`);
        yield* rows;
        if (rows.length < PAGE_ROWS) return;
      }
    } finally {
      await this.client.query(`CLOSE ${cursor}`).catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    await this.client.end();
  }
}
