export { assembleTrace, type AssembledTrace } from './assemble/assemble-trace.js';
export { groupTraces, turnsOf, type FoundTurns, type UnassignedTrace } from './assemble/turns-of.js';
export { decodeTraces, type DecodedTraces, type OtlpContentType } from './decode/decode-traces.js';
export { OtlpError } from './decode/otlp-error.js';
export { exportedSpans, recogniseExport, type ExportedSpan, type ExportKind } from './exports/index.js';
export { normaliseSpan } from './normalise.js';
export { type Agent, type Dialect, type Reader, type SpanFields, type TokenUsage } from './dialect.js';
export { type Conversation, type Message, type MessageToolCall } from './messages.js';
export { type Attributes, type AttributeValue, type OtlpEvent, type OtlpScope, type OtlpSpan } from './span.js';
