import { createHash } from 'node:crypto';
import pg from 'pg';

const WORDS =
  'order refund parcel customer address invoice delivery status account payment change request confirm ticket store label size colour return voucher'.split(
    ' ',
  );
/** One rule in this many is a candidate. */
const CANDIDATE_EVERY = 10;

/** So many words, the same for the same seed. */
function words(seed: string, count: number): string {
  const out: string[] = [];
  for (let round = 0; out.length < count; round += 1)
    for (const byte of createHash('sha256').update(`${seed}|${round}`).digest())
      out.push(`${WORDS[byte % WORDS.length] ?? ''}${byte < 40 ? byte.toString(16) : ''}`);
  return out.slice(0, count).join(' ');
}

/** A query of three words that many rules have. */
export const query = (n: number): string => words(`query ${n}`, 3);
export const scopeName = (n: number): string => `scope-${n}`;

/** Stores `count` rules of 30 words and a reason of 15, spread over `scopes` scopes; one in ten is a candidate. */
export async function storeRules(databaseUrl: string, count: number, scopes: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const rows = Array.from({ length: count }, (_, n) => ({
    ...{ id: `r-${n}`, n, rule: `${words(`rule ${n}`, 30)}.`, rationale: `${words(`why ${n}`, 15)}.` },
    ...{
      scope: scopeName(n % scopes),
      status: n % CANDIDATE_EVERY === 0 ? 'candidate' : 'active',
      tags: words(`tags ${n}`, 3).split(' '),
    },
  }));
  await client.query("INSERT INTO rules.versions (project, version) VALUES ('default', 1)");
  await client.query(
    `INSERT INTO rules.rules (id, project, seq, rule, rationale, tags, scope, status, author, normal_hash, allocation, created_at, promoted_at)
     SELECT id, 'default', 1, rule, rationale, tags, scope, status, 'bench', id, CASE status WHEN 'candidate' THEN 0.5 ELSE 0.98 END, now() - n * interval '1 second', CASE WHEN status = 'active' THEN now() END
     FROM json_to_recordset($1::json) AS r(id text, n int, rule text, rationale text, tags text[], scope text, status text)`,
    [JSON.stringify(rows)],
  );
  await client.query('ANALYZE rules.rules');
  await client.end();
}
