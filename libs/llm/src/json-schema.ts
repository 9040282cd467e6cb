import { z } from 'zod';
import { isRecord } from './json-text.js';

export interface RequestSchema {
  /** As a model is told it in words: with every limit. */
  readonly full: Record<string, unknown>;
  /** As `response_format` takes it. */
  readonly sent: Record<string, unknown>;
  /** Whether the provider may be asked to enforce it: only when every property of every object is required. */
  readonly strict: boolean;
}

/** What strict mode knows (OpenAI's list, without the limits that Azure and others refuse); the answer is validated in full. */
const STRICT_KEYWORDS = new Set([
  'type',
  'properties',
  'required',
  'items',
  'enum',
  'const',
  'anyOf',
  '$ref',
  '$defs',
  'description',
]);

/** The JSON Schema of what `schema` yields, for a request. */
export function requestSchema(schema: z.ZodType): RequestSchema {
  const { $schema: _, ...full } = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as Record<string, unknown>;
  const strict = isStrict(full);
  return { full, sent: strict ? reduced(full) : full, strict };
}

function isStrict(node: unknown): boolean {
  if (!isRecord(node)) return true;
  const properties = isRecord(node['properties']) ? node['properties'] : {};
  const required = Array.isArray(node['required']) ? (node['required'] as unknown[]) : [];
  const closed = node['type'] !== 'object' || ('properties' in node && !isRecord(node['additionalProperties']));
  if (!closed || 'oneOf' in node || 'allOf' in node || Array.isArray(node['prefixItems'])) return false;
  return Object.keys(properties).every((key) => required.includes(key)) && partsOf(node).every(isStrict);
}

/** The schemas directly inside one. */
function partsOf(node: Record<string, unknown>): unknown[] {
  const { properties, $defs, anyOf, items } = node;
  const named = [properties, $defs].flatMap((part) => (isRecord(part) ? Object.values(part) : []));
  return [...named, ...(Array.isArray(anyOf) ? (anyOf as unknown[]) : []), items];
}

function reduced(node: unknown): Record<string, unknown> {
  if (!isRecord(node)) return {};
  const kept = Object.entries(node).filter(([key]) => STRICT_KEYWORDS.has(key));
  const entries = kept.map(([key, value]) => [key, reducedKeyword(key, value)]);
  if (node['type'] === 'object') entries.push(['additionalProperties', false]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function reducedKeyword(key: string, value: unknown): unknown {
  if (key === 'items') return reduced(value);
  if (key === 'anyOf' && Array.isArray(value)) return value.map(reduced);
  if ((key === 'properties' || key === '$defs') && isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, node]) => [name, reduced(node)]));
  }
  return value;
}
