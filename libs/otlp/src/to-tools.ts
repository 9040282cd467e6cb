import type { Tool } from '#contracts';
import { firstMember, fromJsonText, isRecord, member, textOrUndefined, type JsonRecord } from './json-value.js';

const TOOLS_MAX = 512;
const SCHEMA_KEYS = ['parameters', 'input_schema', 'inputSchema', 'parametersJsonSchema', 'json_schema', 'params_json_schema'];
/** What wraps a tool's description in one library or another. */
const WRAPPERS = ['function', 'tool', 'toolSpec'];

/**
 * A catalogue in any of the usual shapes: OpenAI's, Anthropic's, Gemini's declarations, Bedrock's, a map of name to tool, JSON
 * texts of these. Entries without a name are left out, the first of a name counts. Empty for anything else.
 */
export function toTools(value: unknown): Tool[] {
  const found = new Map<string, Tool>();
  for (const tool of flatten(fromJsonText(value), 0)) {
    if (!found.has(tool.name)) found.set(tool.name, tool);
    if (found.size >= TOOLS_MAX) break;
  }
  return [...found.values()];
}

function flatten(value: unknown, depth: number): Tool[] {
  if (depth > 5) return [];
  if (Array.isArray(value)) return value.slice(0, TOOLS_MAX).flatMap((item: unknown) => flatten(fromJsonText(item), depth + 1));
  if (!isRecord(value)) return [];
  const declarations = firstMember(value, ['functionDeclarations', 'function_declarations', 'tools']);
  if (Array.isArray(declarations)) return flatten(declarations, depth + 1);
  const wrapped = fromJsonText(firstMember(value, WRAPPERS));
  if (isRecord(wrapped)) return flatten(wrapped, depth + 1);
  const text = fromJsonText(member(value, 'json_schema'));
  // OpenInference: `tool.json_schema` holds the whole tool.
  if (isRecord(text) && (member(text, 'name') ?? member(text, 'function')) !== undefined) return flatten(text, depth + 1);
  return toTool(value);
}

function toTool(value: JsonRecord): Tool[] {
  const name = textOrUndefined(member(value, 'name'));
  if (name === undefined) return [];
  const description = textOrUndefined(member(value, 'description'));
  const parameters = unwrapSchema(fromJsonText(firstMember(value, SCHEMA_KEYS)));
  return [{ name, ...(description === undefined ? {} : { description }), ...(parameters === undefined ? {} : { parameters }) }];
}

/** Bedrock says `{ json: schema }`, the AI SDK `{ jsonSchema: schema }`. */
function unwrapSchema(value: unknown): Record<string, unknown> | undefined {
  if (!isRecord(value)) return undefined;
  const inner = firstMember(value, ['json', 'jsonSchema']);
  return isRecord(inner) ? inner : value;
}
