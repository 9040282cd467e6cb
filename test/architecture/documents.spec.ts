import { describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { conditions, keyScopes, noticeStatuses, serviceNames, severities } from '#contracts';
import { routeTable } from '../../services/gateway/src/http/routes.js';
import { createProgram } from '../../services/fleetmend/src/program.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const guides = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** Fenced blocks of a document. */
function blocks(document: string, language: string): string[] {
  return [...document.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, body = '']) => body);
}

describe('what the documents quote', () => {
  it('the snippets of the README are the examples, less their first comment', () => {
    const withoutComment = (path: string): string => text(path).replace(/^(\/\/|#).*\n/, '');
    expect(blocks(text('README.md'), 'ts')).toEqual([withoutComment('examples/publish-turn.ts')]);
    expect(blocks(text('README.md'), 'python')).toEqual([withoutComment('examples/publish_turn.py')]);
  });

  it('every fleetmend command exists, with its flags', () => {
    const program = createProgram('0', () => undefined);
    const quoted = guides.flatMap((path) =>
      [...text(path).matchAll(/(?:npx fleetmend|bin\/fleetmend\.mjs|`fleetmend) +([^`\n|;&']+)/g)].map(([, words = '']) => ({
        path,
        words,
      })),
    );
    expect(quoted.length).toBeGreaterThan(15);
    expect(
      quoted.flatMap(({ path, words }) =>
        missingIn(program, words).map((missing) => `${path}: ${missing} in "fleetmend ${words}"`),
      ),
    ).toEqual([]);
  });

  it('every path of the gateway exists', () => {
    const known = routeTable.map(({ path }) => new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`));
    const quoted = guides.flatMap((path) =>
      [...text(path).matchAll(/(?<![a-z.])\/(?:v1\/[\w/{}-]*[\w}]|healthz|readyz|metrics|openapi\.json|asyncapi\.json)\b/g)].map(
        ([route]) => ({ path, route }),
      ),
    );
    expect(quoted.length).toBeGreaterThan(5);
    expect(quoted.filter(({ route }) => !known.some((pattern) => pattern.test(route)))).toEqual([]);
  });
});

/** Words of a command line that the program does not know: a sub-command, or a flag of the command that was reached. */
function missingIn(program: Command, line: string): string[] {
  let command = program;
  const missing: string[] = [];
  for (const word of line.trim().split(/\s+/)) {
    const next = command.commands.find((one) => one.name() === word);
    if (next !== undefined) command = next;
    else if (word.startsWith('--') && word !== '--help' && !command.options.some(({ long }) => long === word.split('=', 1)[0]))
      missing.push(word);
    else if (command === program && !word.startsWith('--')) missing.push(word);
  }
  return missing;
}

describe('the glossary', () => {
  const terms = [...text('docs/glossary.md').matchAll(/^- \*\*([^*]+)\*\*/gm)].map(([, term = '']) => term);

  it('defines every word once', () => {
    expect(terms.length).toBeGreaterThan(60);
    expect(terms.filter((term, index) => terms.indexOf(term) !== index)).toEqual([]);
  });

  it('has the words that the code answers with', () => {
    const words = [
      ...noticeStatuses,
      ...severities,
      ...conditions,
      'scored',
      'pending',
      'failed',
      'not_applicable',
      'revision',
      'standing',
      'fired',
    ];
    expect(words.filter((word) => !terms.includes(word))).toEqual([]);
    for (const scope of keyScopes) expect(text('docs/glossary.md')).toContain(`\`${scope}\``);
  });

  it('and the architecture names every service', () => {
    for (const name of serviceNames) expect(text('docs/architecture.md')).toContain(`\`services/${name}\``);
  });
});
