import { isRecord, type ToolInput } from './shapes.js';

/** A tool catalogue in OpenAI's shape (`{type, function: {name, parameters}}`) or plainly (`{name, parameters}`). */
export function toCatalogue(tools: readonly unknown[]): ToolInput[] {
  return tools.flatMap((entry) => {
    const tool = isRecord(entry) && isRecord(entry.function) ? entry.function : entry;
    if (!isRecord(tool) || typeof tool.name !== 'string' || tool.name === '') return [];
    return [
      {
        name: tool.name,
        ...(typeof tool.description === 'string' ? { description: tool.description } : {}),
        ...(isRecord(tool.parameters) ? { parameters: tool.parameters } : {}),
      },
    ];
  });
}
