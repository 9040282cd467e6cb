import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, modelServer, type ModelRequest, type ModelServer, type Reply } from '#testing';
import { ack, add, episodeOf, ruleOf, speaking } from '../integration/repair-scene.js';
import { ROOT } from '../support/root.js';

jest.setTimeout(120_000);

const BIN = join(ROOT, 'bin/fleetmend.mjs');
const base = mkdtempSync(join(tmpdir(), `fleetmend-test-${process.pid}-repair-`));
// Root's Postgres runs as another user, who has to pass through.
chmodSync(base, 0o711);

describe('everything in one process, with a model that repairs', () => {
  let model: ModelServer;
  let up: ChildProcess;
  let said = '';

  beforeAll(async () => {
    model = await modelServer(repairs);
    const env = {
      ...{ PATH: process.env['PATH'] ?? '', FLEETMEND_DATA_DIR: base, FLEETMEND_HTTP_PORT: '0' },
      ...{ FLEETMEND_REPAIR_MODEL: 'our-own', FLEETMEND_REPAIR_BASE_URL: model.url },
    };
    up = spawn(process.execPath, [BIN, 'up'], { cwd: base, env, stdio: ['ignore', 'ignore', 'pipe'] });
    up.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await eventually(() => said.includes('running; end with Ctrl-C'), 60_000);
  });

  afterAll(async () => {
    const ended = new Promise((resolve) => up.once('close', resolve));
    up.kill('SIGTERM');
    expect(await ended).toBe(0);
    await model.close();
    rmSync(base, { recursive: true, force: true });
  });

  it('makes a candidate of what the sample breaches, and acknowledges its notices', async () => {
    const { url } = JSON.parse(readFileSync(join(base, 'run.json'), 'utf8')) as { url: string };
    const items = async (path: string): Promise<Record<string, unknown>[]> => {
      const answer = (await (await fetch(`${url}${path}`)).json()) as { items: Record<string, unknown>[] };
      return answer.items;
    };
    await eventually(async () => {
      const notices = await items('/v1/notices');
      return notices.length >= 2 && notices.every(({ status }) => status === 'acknowledged');
    }, 60_000);
    expect(said).not.toContain('the repair service is left out');
    const ends = (await items('/v1/journal?type=repair_completed')).concat(
      await items('/v1/journal?type=repair_already_covered'),
    );
    expect(ends.length).toBeGreaterThanOrEqual(1);
    expect(await items('/v1/journal?type=repair_candidate_added')).not.toEqual([]);
  });
});

/** Writes a rule for whatever it is asked about, and acknowledges it; what is covered already it leaves to the rule that covers it. */
function repairs(request: ModelRequest): Reply {
  const messages = request.body['messages'] as { role: string; content: string }[];
  const notice = /n-[0-9a-f]{12}-[0-9a-f]{16}/.exec(messages[1]?.content ?? '')?.[0] ?? '';
  const [answer] = messages.filter(({ role }) => role === 'tool').slice(-1);
  const said = JSON.parse(answer?.content ?? '{}') as {
    created?: boolean;
    recommended_resolution?: string;
    existing_rule_id?: string;
  };
  if (said.created === true) return speaking([ack(notice, ruleOf({ episode: episodeOf(request) }))]);
  if (said.created === undefined) return speaking([add()]);
  const { recommended_resolution: resolution, existing_rule_id } = said;
  return speaking([['harness_notice_resolve', { notice_id: notice, resolution, existing_rule_id, note: 'it is covered' }]]);
}
