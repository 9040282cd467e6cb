export { type Capabilities, type CapabilityMemory, inMemoryCapabilities } from './capabilities.js';
export { type Clock } from './clock.js';
export { ModelError, type ModelErrorKind } from './model-error.js';
export { type Price, type PriceTable } from './prices.js';
export {
  type ChatMessage,
  type ChatReply,
  type ChatRequest,
  type EmbedReply,
  type EmbedRequest,
  type EndpointOptions,
  type StructuredReply,
  type StructuredRequest,
  type ToolArguments,
  type ToolCall,
  type ToolDefinition,
} from './requests.js';
export { unitScore } from './unit-score.js';
export { addUsage, NO_USAGE, type Usage } from './usage.js';
