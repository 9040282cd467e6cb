import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The eval set as a whole has a version: every change of a project's set is made under the lock of its row here, and bumps it, so that
 * a regression run can say which set it ran. Two services change sets, and no column has two writers: hence the functions.
 */
const tables = `
CREATE TABLE evalset.versions (project text PRIMARY KEY REFERENCES edge.projects, version bigint NOT NULL DEFAULT 0, at timestamptz NOT NULL DEFAULT now());
INSERT INTO evalset.versions (project, version) SELECT DISTINCT c.project, 1 FROM evalset.cases c JOIN edge.projects p ON p.project = c.project;
CREATE INDEX cases_newest ON evalset.cases (project, created_at DESC, id);
UPDATE evalset.cases SET replay_input = NULL WHERE replay_input IN ('null', '{}', '[]');`;

/** Sets are locked in the order of their projects, after breakers and before incidents (architecture, "One batch, one transaction"). */
const functions = `
CREATE FUNCTION evalset.lock(p_projects text[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO evalset.versions (project) SELECT p FROM unnest(p_projects) AS p ORDER BY p ON CONFLICT DO NOTHING;
  PERFORM 1 FROM evalset.versions WHERE project = ANY(p_projects) ORDER BY project FOR UPDATE;
END $$;
CREATE FUNCTION evalset.advance(p_project text) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE evalset.versions SET version = version + 1, at = clock_timestamp() WHERE project = p_project RETURNING version;
$$;
REVOKE ALL ON FUNCTION evalset.lock(text[]), evalset.advance(text) FROM PUBLIC;`;

const CHANGES_SETS = 'EXECUTE ON FUNCTION evalset.lock(text[]), evalset.advance(text)';

/** What the services are granted over the tables of this migration, in the words of migration 2. */
export const grantsOfEvalSet: Readonly<Record<string, readonly string[]>> = {
  fm_gateway: [
    'SELECT ON evalset.versions',
    'INSERT, DELETE ON evalset.cases',
    'UPDATE (replay_input, notes) ON evalset.cases',
    CHANGES_SETS,
  ],
  fm_mailbox: ['SELECT ON evalset.versions', CHANGES_SETS],
  fm_validation: ['SELECT ON evalset.versions'],
};

export class EvalSet1764500000008 implements MigrationInterface {
  readonly name = 'EvalSet1764500000008';

  async up(runner: QueryRunner): Promise<void> {
    for (const sql of [tables, functions]) await runner.query(sql);
    for (const [role, allowed] of Object.entries(grantsOfEvalSet))
      for (const grant of allowed) await runner.query(`GRANT ${grant} TO ${role}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `DROP FUNCTION evalset.lock(text[]), evalset.advance(text);
       DROP INDEX evalset.cases_newest;
       DROP TABLE evalset.versions;
       REVOKE INSERT, UPDATE, DELETE ON evalset.cases FROM fm_gateway`,
    );
  }
}
