import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RuleRecord, RuleToolOutput } from '#contracts';
import {
  readableScope,
  renderFiles,
  RuleLibrary,
  withoutSession,
  type Hold,
  type ReadableRule,
  type RuleState,
} from '#domain/rules';
import { openGateway, type GatewayOptions } from '../http/gateway.js';
import { readPages } from '../http/pages.js';

export interface Exported {
  readonly dir: string;
  /** Paths under `dir`, sorted. */
  readonly files: readonly string[];
}

const MICROS_PER_MILLI = 1_000;
const RULES_FOLDER = 'rules';

/**
 * Writes `rules.md` and `rules/<scope>.md` as a reader without a session sees them. A file of a scope that has no rules any more, which an
 * earlier export wrote, is emptied.
 */
export async function exportRules(dir: string, options: GatewayOptions): Promise<Exported> {
  const gateway = await openGateway(options);
  const [{ items }, list] = await Promise.all([
    readPages<RuleRecord>(gateway, '/v1/rules/inventory', {}, { all: true }),
    gateway.get<RuleToolOutput<'list'>>('/v1/rules'),
  ]);
  const library = new RuleLibrary(items.filter(({ scope }) => readableScope(scope).accepted).map(readableRule));
  for (const { scope, description } of list.scopes) library.describe(scope, description);
  const files = renderFiles(library, withoutSession(Date.now()), await writtenScopes(join(dir, RULES_FOLDER)));
  await mkdir(join(dir, RULES_FOLDER), { recursive: true });
  for (const [path, text] of files) await writeFile(join(dir, path), text);
  return { dir, files: [...files.keys()].sort() };
}

/** Scopes whose files are there and are ours: somebody may keep files of their own beside them. */
async function writtenScopes(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const scopes = names.filter((name) => name.endsWith('.md')).map((name) => name.slice(0, -'.md'.length));
  const ours = await Promise.all(scopes.map((scope) => isOurs(folder, scope)));
  return scopes.filter((_, at) => ours[at]);
}

async function isOurs(folder: string, scope: string): Promise<boolean> {
  if (!readableScope(scope).accepted) return false;
  const text = await readFile(join(folder, `${scope}.md`), 'utf8');
  return text.startsWith(`# Rules: ${scope}\n`);
}

function readableRule(record: RuleRecord): ReadableRule {
  const { id, rule, rationale, metric, tags, scope, episode_id: source, created_at: created } = record;
  // Files are nobody's session, so no arm hides anything.
  const allocation = 1;
  return { id, rule, rationale, metric, tags, scope, source, allocation, created_at: millis(created) ?? 0, ...stateOf(record) };
}

function stateOf(record: RuleRecord): RuleState {
  const { status } = record;
  const withdrawn_at = millis(record.withdrawn_at);
  switch (status) {
    case 'candidate':
      return { status, hold: holdOf(record), withdrawn_at };
    case 'active':
      return { status, promoted_at: millis(record.promoted_at) ?? 0, withdrawn_at };
    case 'retired':
      return { status, retired_at: millis(record.retired_at) ?? 0, reason: record.retired_reason ?? '', withdrawn_at };
  }
}

function holdOf({ hold, held_until: until }: RuleRecord): Hold | null {
  if (hold === 'veto') return { kind: 'veto', until: millis(until) ?? 0 };
  return hold === 'approval' ? { kind: 'approval' } : null;
}

const millis = (micros: number | null): number | null => (micros === null ? null : micros / MICROS_PER_MILLI);
