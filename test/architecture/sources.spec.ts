import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { events, processSettings, projectSettings, streams } from '#contracts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const IS_TEST = /\.(spec|int-spec|e2e-spec)\.ts$|^test\/|^services\/[^/]+\/test\/|^libs\/testing\/|\/fixtures\//;

/** Files that git knows or would take: no build output, no data folder. */
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(ROOT, path)));
const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const sources = files.filter((path) => /^(libs|services)\/.*\.ts$/.test(path) && !IS_TEST.test(path));

/** Without comments, so that a sentence about a subject is not one. */
function codeOf(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`\\])\/\/.*$/gm, '$1');
}

interface Place {
  readonly path: string;
  readonly match: string;
}

function search(paths: readonly string[], pattern: RegExp, read = (path: string): string => codeOf(text(path))): Place[] {
  return paths.flatMap((path) => [...read(path).matchAll(pattern)].map(([match]) => ({ path, match })));
}

/** A literal that begins like a subject of ours, or any event type written out where a subject is built. */
const SUBJECT = /(['"`])(live\.)?fm\.(\*|>|\$\{|[a-z0-9_<])[^'"`]*\1?/g;

describe('subjects', () => {
  it('are spelled in libs/contracts only', () => {
    const outside = sources.filter((path) => !path.startsWith('libs/contracts/'));
    expect(outside.length).toBeGreaterThan(100);
    expect(search(outside, SUBJECT)).toEqual([]);
  });

  it('the search finds a planted one', () => {
    for (const planted of ["'fm.default.turn.ended'", '`fm.${project}.notice.posted`', '"live.fm.*.notice.>"'])
      expect(search(['x'], SUBJECT, () => `publish(${planted})`)).toHaveLength(1);
    expect(search(['x'], SUBJECT, () => codeOf("// publish('fm.default.turn.ended')\nconst a = 1;"))).toEqual([]);
  });

  it('names of streams are spelled in libs/contracts only', () => {
    const names = new RegExp(`['"\`](${streams.map(({ name }) => name).join('|')})['"\`]`, 'g');
    expect(
      search(
        sources.filter((path) => !path.startsWith('libs/contracts/')),
        names,
      ),
    ).toEqual([]);
    expect(search(['x'], names, () => "get('FM_TURNS')")).toHaveLength(1);
  });

  it('every event is declared once', () => {
    const types = events.map(({ type }) => type);
    expect(new Set(types).size).toBe(types.length);
    expect(new Set(events.map(({ pattern }) => pattern)).size).toBe(types.length);
  });
});

describe('configuration', () => {
  const ENVIRONMENT =
    /process\.env\b|process\[['"]env['"]\]|\benv\s*\}\s*=\s*process\b|import\s*\{[^}]*\benv\b[^}]*\}\s*from\s*['"]node:process['"]/g;

  it('every environment variable is read in libs/config', () => {
    expect(
      search(
        sources.filter((path) => !path.startsWith('libs/config/')),
        ENVIRONMENT,
      ),
    ).toEqual([]);
    expect(search(['x'], ENVIRONMENT, () => 'const { env } = process;')).toHaveLength(1);
  });

  it('every setting is documented, with its default', () => {
    const document = text('docs/generated/settings.md');
    for (const name of [...Object.keys(projectSettings.shape), ...Object.keys(processSettings.shape)])
      expect(document).toContain(`| \`${name}\` | \`FLEETMEND_${name.toUpperCase()}\` |`);
  });

  it('every FLEETMEND_ variable that a document names exists', () => {
    const known = new Set(
      [...Object.keys(projectSettings.shape), ...Object.keys(processSettings.shape)].map(
        (name) => `FLEETMEND_${name.toUpperCase()}`,
      ),
    );
    const others = new Set(['FLEETMEND_URL', 'FLEETMEND_KEY', 'FLEETMEND_SETTINGS']);
    const documents = files.filter((path) => path.endsWith('.md') || path === 'docker-compose.yml' || path.startsWith('deploy/'));
    const named = search(documents, /\bFLEETMEND_[A-Z0-9_]*[A-Z0-9]\b/g, text);
    expect(named.filter(({ match }) => !known.has(match) && !others.has(match))).toEqual([]);
  });
});

describe('the documents', () => {
  const documents = files.filter((path) => path.endsWith('.md'));

  it('link only to what is there', () => {
    expect(documents.length).toBeGreaterThan(10);
    const broken = documents.flatMap((path) =>
      [...text(path).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !existsSync(join(ROOT, path, '..', target)))
        .map((target) => `${path} -> ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('name only npm scripts that exist', () => {
    const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
    const named = search(documents, /\bnpm run ([a-z][\w:-]*)/g, text).map(({ path, match }) => ({
      path,
      script: match.slice('npm run '.length),
    }));
    expect(named.filter(({ script }) => !(script in scripts))).toEqual([]);
  });

  it('hold no path of a machine', () => {
    const written = files.filter(
      (path) =>
        /\.(md|ya?ml|conf|json|sql|mjs|cjs|ts)$/.test(path) &&
        path !== 'package-lock.json' &&
        !path.startsWith('test/architecture/'),
    );
    expect(search(written, /(?<![\w.])\/(work|root|home\/[a-z]+)\/[\w./-]*/g, text)).toEqual([]);
  });
});

/** The material that is lent to this repository and must not be copied into it; only there where it is lent. */
const SHARED = join(ROOT, '../shared');

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesUnder(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}

const hash = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');

(existsSync(SHARED) || process.env['CI'] === 'true' ? describe : describe.skip)('lent material', () => {
  it('no file of it is copied', () => {
    const lent = new Map(
      filesUnder(SHARED)
        .filter((path) => statSync(path).size > 0 && !/\/(LICENSE|NOTICE)/.test(path))
        .map((path) => [hash(readFileSync(path)), path]),
    );
    expect(lent.size).toBeGreaterThan(10);
    expect(files.filter((path) => lent.has(hash(readFileSync(join(ROOT, path)))))).toEqual([]);
  });

  it('no sentence of a recording is copied', () => {
    const lines = new Set(
      filesUnder(join(SHARED, 'data/tau-bench'))
        .filter((path) => statSync(path).size < 64 * 1024 * 1024)
        .flatMap(longTexts),
    );
    expect(lines.size).toBeGreaterThan(100);
    const texts = files.filter(
      (path) => ['.ts', '.mjs', '.json', '.md', '.jsonl', '.txt'].includes(extname(path)) && path !== 'package-lock.json',
    );
    const copied = texts.filter((path) => longStrings(text(path)).some((string) => lines.has(string)));
    expect(copied).toEqual([]);
  });
});

const LONG = 60;

/** Long pieces of text in a recording: what its messages say. */
function longTexts(path: string): string[] {
  return longStrings(readFileSync(path, 'utf8'));
}

function longStrings(source: string): string[] {
  return [...source.matchAll(/(["'`])((?:\\.|(?!\1)[^\\\n]){60,400})\1/g)]
    .map(([, , string = '']) => string)
    .filter((string) => string.length >= LONG);
}
