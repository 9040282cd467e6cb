import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { openApiDocument } from './openapi.js';

type Node = Record<string, unknown>;

/** Every `$ref` in the document. */
function references(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const { $ref } = node as { $ref?: string };
  return [...($ref === undefined ? [] : [$ref]), ...Object.values(node).flatMap(references)];
}

describe('openApiDocument', () => {
  const document = openApiDocument();

  it('names only schemas that it has', () => {
    const { schemas } = document['components'] as { schemas: Node };
    const named = references(document).filter((reference) => reference.startsWith('#/components/'));
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((reference) => !Object.hasOwn(schemas, reference.slice('#/components/schemas/'.length)))).toEqual([]);
  });

  it('declares every parameter of a path', () => {
    for (const [path, operations] of Object.entries(document['paths'] as Record<string, Node>)) {
      const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const operation of Object.values(operations) as { parameters?: { name: string; in: string; required: boolean }[] }[]) {
        const declared = (operation.parameters ?? []).filter((one) => one.in === 'path' && one.required).map(({ name }) => name);
        expect(declared).toEqual(wanted);
      }
    }
  });

  it('says what may be left out of a turn and what may not', () => {
    const { schemas } = document['components'] as {
      schemas: Record<string, { anyOf: { required: string[]; properties: Node }[] }>;
    };
    expect(schemas['TurnOrTurns']?.anyOf[0]?.required).toEqual(['session_id', 'turn_index']);
    expect(schemas['TurnOrTurns']?.anyOf[0]?.properties).toHaveProperty('rule_scope_hints');
  });

  it('is the one that is checked in (npm run generate)', async () => {
    const text = await readFile(new URL('../../../../docs/generated/openapi.json', import.meta.url), 'utf8');
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(document)));
  });
});
