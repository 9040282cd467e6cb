import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CONFIG = join(ROOT, '.dependency-cruiser.cjs');

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string };
}

interface Cruise {
  readonly modules: readonly { readonly source: string; readonly dependencies: readonly unknown[] }[];
  readonly summary: { readonly violations: readonly Violation[] };
}

/** Runs dependency-cruiser's own program over `folders` of `root`, with the rules of this repository. */
function cruise(root: string, folders: readonly string[]): Promise<Cruise> {
  const program = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const args = [program, ...folders, '--config', CONFIG, '--output-type', 'json'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: root, maxBuffer: 256 * 1024 * 1024 }, (error, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout) as Cruise);
      } catch {
        reject(new Error(`dependency-cruiser said nothing readable: ${stderr}`, { cause: error }));
      }
    });
  });
}

const ruleNames = (createRequire(import.meta.url)(CONFIG) as { forbidden: { name: string }[] }).forbidden.map(({ name }) => name);

/** Per rule: a file that breaks it, and what it says. Imports of types use `import type`, which must be seen as well. */
const leaks: Readonly<Record<string, readonly [path: string, text: string]>> = {
  'contracts-only-zod': ['libs/contracts/src/leak.ts', "import { join } from 'node:path'; export const a = join;"],
  'domain-imports-nothing': [
    'libs/domain/src/leak/clock.ts',
    "import { setTimeout } from 'node:timers/promises'; export const a = setTimeout;",
  ],
  'domain-contracts-as-types': ['libs/domain/src/leak/words.ts', "import { events } from '#contracts'; export const a = events;"],
  'ajv-in-checks': ['libs/domain/src/leak/validate.ts', "import { Ajv } from 'ajv'; export const a = Ajv;"],
  'libs-not-services': [
    'libs/ingest/src/leak.ts',
    "import { main } from '../../../services/scoring/src/main.js'; export const a = main;",
  ],
  'services-apart': ['services/gating/src/leak.ts', "import { main } from '../../scoring/src/main.js'; export const a = main;"],
  'nats-in-its-places': [
    'services/scoring/src/leak-nats.ts',
    "import type { NatsConnection } from '@nats-io/transport-node'; export type A = NatsConnection;",
  ],
  'nats-as-a-type-in-the-runtime': [
    'libs/service/src/runtime.ts',
    "import { connect } from '@nats-io/transport-node'; export const a = connect;",
  ],
  'database-in-its-places': ['services/scoring/src/leak-sql.ts', "import pg from 'pg'; export const a = pg;"],
  'database-as-a-type-in-the-runtime': [
    'libs/service/src/run.ts',
    "import { DataSource } from 'typeorm'; export const a = DataSource;",
  ],
  'openai-in-llm': ['services/scoring/src/leak-model.ts', "import OpenAI from 'openai'; export const a = OpenAI;"],
  'local-model-in-embeddings': [
    'services/scoring/src/leak-embedding.ts',
    "import { initModel } from '@energetic-ai/embeddings'; export const a = initModel;",
  ],
  'protobuf-in-its-places': [
    'services/scoring/src/leak-protobuf.ts',
    "import protobuf from 'protobufjs'; export const a = protobuf;",
  ],
  'client-alone': ['libs/client/src/leak.ts', "import { egg } from '../../ingest/src/egg.js'; export const a = egg;"],
  'handlers-without-drivers': [
    'services/scoring/src/handlers/leak.ts',
    "import type { DataSource } from 'typeorm'; export type A = DataSource;",
  ],
  'http-in-the-gateway': ['services/scoring/src/leak-http.ts', "import { fastify } from 'fastify'; export const a = fastify;"],
  'no-test-code': ['services/scoring/src/leak-test.ts', "import { database } from '#testing'; export const a = database;"],
  'no-spec-imports': ['libs/ingest/src/one.spec.ts', "import { helper } from './two.spec.js'; export const a = helper;"],
  'no-cycles': ['libs/ingest/src/chicken.ts', "import { egg } from './egg.js'; export const chicken = egg;"],
  resolvable: ['libs/ingest/src/lost.ts', "import { nothing } from './not-there.js'; export const a = nothing;"],
  'no-undeclared-packages': ['libs/ingest/src/leak-package.ts', "import { parse } from 'acorn'; export const a = parse;"],
  'no-dev-packages': ['libs/ingest/src/leak-dev.ts', "import prettier from 'prettier'; export const a = prettier;"],
};

/** What the leaks lead to. */
const scenery: Readonly<Record<string, string>> = {
  'libs/contracts/src/index.ts': 'export const events = 1;',
  'libs/testing/src/index.ts': 'export const database = 1;',
  'libs/ingest/src/two.spec.ts': 'export const helper = 1;',
  'libs/ingest/src/egg.ts': "import { chicken } from './chicken.js'; export const egg = chicken;",
  'services/scoring/src/main.ts': 'export const main = 1;',
};

describe('the import rules', () => {
  let planted: string;
  let found: Cruise;

  beforeAll(async () => {
    planted = mkdtempSync(join(tmpdir(), 'fleetmend-leaks-'));
    for (const name of ['package.json', 'tsconfig.json', 'tsconfig.base.json'])
      copyFileSync(join(ROOT, name), join(planted, name));
    symlinkSync(join(ROOT, 'node_modules'), join(planted, 'node_modules'));
    for (const [path, text] of [...Object.entries(scenery), ...Object.values(leaks)]) {
      mkdirSync(dirname(join(planted, path)), { recursive: true });
      writeFileSync(join(planted, path), text);
    }
    found = await cruise(planted, ['libs', 'services']);
  }, 60_000);

  afterAll(() => rmSync(planted, { recursive: true, force: true }));

  it('each have a planted leak', () => {
    expect(Object.keys(leaks).sort()).toEqual([...ruleNames].sort());
  });

  it.each(Object.entries(leaks))('%s catches its leak', (rule, [path]) => {
    const caught = found.summary.violations.filter(({ from }) => from === path).map((one) => one.rule.name);
    expect(caught).toContain(rule);
  });

  it('leave alone what is allowed', () => {
    const guilty = new Set(Object.values(leaks).map(([path]) => path));
    const accused = found.summary.violations
      .map(({ from }) => from)
      .filter((from) => !guilty.has(from) && !from.endsWith('egg.ts'));
    expect(accused).toEqual([]);
  });
});

describe('the sources', () => {
  it('keep the import rules', async () => {
    const { modules, summary } = await cruise(ROOT, ['libs', 'services', 'test']);
    const read = modules.filter(({ source }) => /^(libs|services|test)\/.*\.ts$/.test(source));
    // A tool that reads nothing finds nothing: the tree must really have been read, with its `#…` imports followed.
    expect(read.length).toBeGreaterThan(100);
    expect(read.filter(({ dependencies }) => dependencies.length > 0).length).toBeGreaterThan(100);
    expect(summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`)).toEqual([]);
  }, 120_000);

  it('are all known to package.json: every #… import leads to a file', () => {
    const { imports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      imports: Record<string, { 'fleetmend-source'?: string }>;
    };
    const single = Object.entries(imports).filter(([name]) => !name.includes('*'));
    const leads = (path: string | undefined): boolean => path !== undefined && existsSync(join(ROOT, path));
    expect(single.filter(([, to]) => !leads(to['fleetmend-source'])).map(([name]) => name)).toEqual([]);
  });
});
