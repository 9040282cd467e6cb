import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { answerText, hasFailed, requestText, toolCalls } from '#domain/checks';
import { assembleTrace, decodeTraces, groupTraces, normaliseSpan, type AssembledTrace } from '../index.js';

const FOLDER = '../shared/data/otlp/logfire-snapshots';
const present = existsSync(FOLDER) || process.env['CI'] === 'true';
if (!present) console.info('Skipped: the snapshots of Logfire in ../shared/data are absent.');
const withData = present ? describe : describe.skip;

/** As Logfire's tests print a span: attributes complete, values that are no scalars parsed. */
interface Printed {
  readonly name: string;
  readonly context: { readonly trace_id: number; readonly span_id: number };
  readonly parent: { readonly span_id: number } | null;
  readonly start_time: number;
  readonly end_time: number;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly events?: readonly {
    readonly name: string;
    readonly timestamp: number;
    readonly attributes?: Readonly<Record<string, unknown>>;
  }[];
}

const printedIn = (file: string): Printed[] => JSON.parse(readFileSync(`${FOLDER}/${file}`, 'utf8')) as Printed[];
const hex = (id: number, digits: number): string => id.toString(16).padStart(digits, '0');

/** The tests' clock counts from 1970, where no span can be: from 2026 on instead. */
function nanosOf(time: number | null | undefined): string | null {
  return Number.isInteger(time) ? String(1_769_000_000_000_000_000n + BigInt(time ?? 0)) : null;
}

/** Such spans as Logfire's exporter posts them: dicts and lists as JSON text. */
function asOtlp(spans: readonly Printed[]): object {
  const written = spans.map((span) => ({
    name: span.name,
    traceId: hex(span.context.trace_id, 32),
    spanId: hex(span.context.span_id, 16),
    parentSpanId: span.parent === null ? '' : hex(span.parent.span_id, 16),
    startTimeUnixNano: nanosOf(span.start_time),
    endTimeUnixNano: nanosOf(span.end_time),
    attributes: attributesOf(span.attributes),
    events: (span.events ?? []).map(({ name, timestamp, attributes }) => ({
      name,
      timeUnixNano: nanosOf(timestamp),
      attributes: attributesOf(attributes),
    })),
  }));
  return { resourceSpans: [{ scopeSpans: [{ scope: { name: 'logfire' }, spans: written }] }] };
}

function attributesOf(values: Readonly<Record<string, unknown>> = {}): object[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: valueOf(value) }));
}

function valueOf(value: unknown): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { stringValue: JSON.stringify(value) };
}

/**
 * What a person reading the spans finds: calls of models (each once), traces with words of a user, traces with an answer, calls of tools
 * (`!`: failed). A row per test of Logfire.
 */
const TABLE = `
# One call, asked and answered.
anthropic async_beta_messages                        1 1 1
anthropic async_messages                             1 1 1
anthropic messages_without_stop_reason               1 1 1
anthropic request_parameters                         1 1 1
anthropic sync_messages                              1 1 1
anthropic sync_messages_version_latest               1 1 1
anthropic sync_messages_version_v1_only              1 1 1
anthropic_bedrock sync_messages                      1 1 1
google_genai instrument_google_genai_response_schema 1 1 1
openai async_chat_completions                        1 1 1
openai chat_completions_with_audio_input             1 1 1
openai completions                                   1 1 1
openai completions_version_v1_only                   1 1 1
openai dont_suppress_httpx                           1 1 1
openai responses_api_version_latest_only             1 1 1
openai responses_api_version_v1_only                 1 1 1
openai suppress_httpx                                1 1 1
openai sync_chat_completions                         1 1 1
openai sync_chat_completions_version_latest          1 1 1
openai sync_chat_completions_version_v1_only         1 1 1
openai sync_chat_completions_with_all_request_params 1 1 1
openai sync_chat_completions_with_stop_string        1 1 1
# The newest version alone does not record the prompt of a completion.
openai completions_version_latest_only               1 0 1
# Streamed: two spans of one call, each a trace here since none was open around it; the second has the answer.
anthropic async_messages_stream                      1 2 1
anthropic sync_messages_beta_stream                  1 2 1
anthropic sync_messages_stream                       1 2 1
anthropic sync_messages_stream_version_latest        1 2 1
anthropic sync_messages_stream_version_v1_only       1 2 1
openai async_chat_completions_stream                 1 2 1
openai completions_stream                            1 2 1
openai openrouter_streaming_reasoning                1 2 1
openai responses_stream                              1 2 1
openai sync_chat_completions_stream                  1 2 1
openai sync_chat_completions_stream_version_latest   1 2 1
openai sync_chat_completions_stream_version_v1_only  1 2 1
# A system message only, and a call of a tool or nothing for an answer.
anthropic sync_message_empty_response_chunk          1 0 0
anthropic tool_messages                              1 0 0 tool
openai async_chat_tool_call_stream                   1 0 0 get_current_weather
openai sync_chat_tool_call_stream                    1 0 0 get_current_weather
openai sync_chat_empty_response_choices              1 0 0
openai sync_chat_empty_response_chunk                1 0 0
# No call of a language model: embeddings, images, files, a prompt of an API that is not read.
anthropic unknown_method                             0 1 0
openai create_assistant                              0 0 0
openai create_files                                  0 0 0
openai create_files_async                            0 0 0
openai create_thread                                 0 0 0
openai embeddings                                    0 1 0
openai embeddings_version_latest                     0 0 0
openai embeddings_version_v1_only                    0 1 0
openai images                                        0 1 0
openai images_version_latest_only                    0 0 0
google_genai span_event_logger_with_circular_reference 0 1 0
google_genai span_event_logger_with_none_parts       0 0 0
# A tool in between: the call that asked for it, the tool, the call that answers.
google_genai instrument_google_genai                 1 1 1 get_current_weather
google_genai instrument_google_genai_no_content      1 0 0 get_current_weather
litellm litellm_instrumentation                      2 2 1 get_current_weather
openai responses_api                                 2 2 1 get_weather
claude_agent_sdk basic_conversation_cassette         1 1 1
claude_agent_sdk clear_orphaned_tool_spans           0 0 0 OrphanTool
claude_agent_sdk tool_use_conversation_cassette      2 1 1 Bash
claude_agent_sdk tool_use_hooks                      0 0 0 Bash,Read,Write!
dspy dspy_instrumentation                            1 1 1
# OpenAI Agents by way of Logfire. A handoff is a tool to the model, and no span says what it gave.
openai_agents chat_completions                       1 1 1
openai_agents custom_span                            0 0 0
openai_agents file_search                            2 1 1
openai_agents function_tool_exception                2 1 1 tool!
openai_agents input_guardrails                       1 1 1
openai_agents input_guardrails_1                     0 0 0
openai_agents manual_parents                         0 0 0
openai_agents openai_agent_tracing                   0 0 0
openai_agents openai_agent_tracing_manual_start_end  0 0 0
openai_agents responses                              2 1 1 random_number,transfer_to_agent2
openai_agents responses_simple                       2 1 1
openai_agents unknown_span                           0 0 0
openai_agents voice_pipeline                         1 1 1
# MCP: one call is one, whatever number of spans carried it: of a tool, or of a model that the server asked the client for. Other requests
# are traces of their own, with JSON for words.
openai_agents_mcp mcp                                2 4 2 random_number
pydantic_ai_mcp pydantic_ai_mcp_sampling             3 2 2 joker
`;

interface Row {
  readonly file: string;
  readonly expected: string;
}

const rows: readonly Row[] = TABLE.split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(/\s+/))
  .map(([library, test, ...expected]) => ({
    file: `test_${library ?? ''}__test_${test ?? ''}.json`,
    expected: expected.join(' '),
  }));

function summary(found: readonly AssembledTrace[]): string {
  const traces = found.map(({ trace }) => trace);
  const spans = traces.flatMap((trace) => trace.spans);
  const calls = traces.flatMap(toolCalls).map(({ tool, failed }) => (failed ? `${tool}!` : tool));
  return [
    spans.filter(({ kind }) => kind === 'LLM').length,
    traces.filter((trace) => requestText(trace) !== '').length,
    traces.filter((trace) => answerText(trace) !== '').length,
    ...(calls.length === 0 ? [] : [calls.sort().join(',')]),
  ].join(' ');
}

function read(spans: readonly Printed[]): AssembledTrace[] {
  const decoded = decodeTraces(Buffer.from(JSON.stringify(asOtlp(spans))), 'json');
  const normal = [...decoded.spans].map((span) => normaliseSpan(span, 0));
  expect([...decoded.rejected]).toEqual([]);
  expect(normal).toHaveLength(spans.length);
  return [...groupTraces(normal).values()].map(assembleTrace);
}

withData('spans of the tests of Logfire', () => {
  it('each test has its row', () => {
    expect(
      readdirSync(FOLDER)
        .filter((file) => file.endsWith('.json'))
        .sort(),
    ).toEqual(rows.map(({ file }) => file).sort());
  });

  it.each(rows)('$file: $expected', ({ file, expected }) => {
    expect(summary(read(printedIn(file)))).toBe(expected);
  });

  it('a call that a model asked for, the tool that failed, and what went wrong', () => {
    const spans = read(printedIn('test_openai_agents__test_function_tool_exception.json')).flatMap(({ trace }) => trace.spans);
    expect(spans.find(({ kind }) => kind === 'TOOL')).toMatchObject({
      name: 'tool',
      input: '{}',
      error: { data: { error: "Ouch, don't do that again!" } },
    });
    expect(spans.filter(hasFailed)).toHaveLength(1);
  });

  it('arguments and results of tools, wherever a library writes them', () => {
    const toolOf = (file: string): object | undefined =>
      read(printedIn(file))
        .flatMap(({ trace }) => trace.spans)
        .find(({ kind }) => kind === 'TOOL');
    expect(toolOf('test_google_genai__test_instrument_google_genai.json')).toMatchObject({
      input: { location: 'Boston, MA' },
      output: 'rainy',
    });
    expect(toolOf('test_pydantic_ai_mcp__test_pydantic_ai_mcp_sampling.json')).toMatchObject({
      input: '{"theme":"socks"}',
      output: expect.stringMatching(/^Why did the sock/),
    });
    expect(toolOf('test_litellm__test_litellm_instrumentation.json')).toMatchObject({
      input: '{"location":"San Francisco, CA"}',
    });
  });
});
