import type { RuleTool } from '../../contracts/src/rule-tools.js';
import type { RuleCache } from './rule-cache.js';
import { toolDeclarations, type ToolDeclaration } from './tool-declarations.js';
import type { ReadFor } from './transport.js';

/** What a tool says to the model: the answer, or why there is none. */
export type ToolResult = object | { readonly error: string };

export interface PlainTool extends ToolDeclaration {
  /** Takes the arguments as the model wrote them: an object, or its JSON. Never rejects: a model can read an error and go on. */
  handler(args: unknown): Promise<ToolResult>;
}

export interface OpenAiTool {
  readonly type: 'function';
  readonly function: ToolDeclaration;
}

export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: ToolDeclaration['parameters'];
}

const TOOLS = Object.keys(toolDeclarations) as RuleTool[];

/** The four read tools in the forms that model APIs and frameworks want. */
export class Tools {
  constructor(
    private readonly cache: RuleCache,
    private readonly reader: ReadFor,
  ) {}

  /** For `tools` of chat completions. */
  openai(): OpenAiTool[] {
    return TOOLS.map((tool) => ({ type: 'function', function: toolDeclarations[tool] }));
  }

  /** For `tools` of the Messages API. */
  anthropic(): AnthropicTool[] {
    return TOOLS.map((tool) => toolDeclarations[tool]).map(({ name, description, parameters }) => ({
      name,
      description,
      input_schema: parameters,
    }));
  }

  /** With their handlers. */
  plain(): PlainTool[] {
    return TOOLS.map((tool) => ({ ...toolDeclarations[tool], handler: (args) => this.run(tool, args) }));
  }

  /** Runs a call that the model made. Null: the tool is not one of these. */
  async call(name: string, args: unknown): Promise<ToolResult | null> {
    const tool = TOOLS.find((one) => toolDeclarations[one].name === name);
    return tool === undefined ? null : this.run(tool, args);
  }

  private async run(tool: RuleTool, args: unknown): Promise<ToolResult> {
    try {
      return await this.cache.read({ tool, input: argumentsOf(args), reader: this.reader });
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** Nothing at all stands for no arguments. */
function argumentsOf(args: unknown): object {
  const given: unknown = typeof args === 'string' && args.trim() !== '' ? JSON.parse(args) : args;
  if (given === undefined || given === null || given === '') return {};
  if (typeof given !== 'object' || Array.isArray(given)) throw new TypeError('the arguments have to be one JSON object');
  return given;
}
