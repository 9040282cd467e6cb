export { type Capabilities, type CapabilityMemory, inMemoryCapabilities } from './capabilities.js';
export { type Clock } from './clock.js';
export { type EndpointTools, ModelEndpoint } from './model-endpoint.js';
export { ModelError, type ModelErrorKind } from './model-error.js';
export { type Price, PRICES_TAKEN } from './price-list.js';
export { pricesFromSettings, type PriceTable, priceTable, unpriced } from './prices.js';
export { takesReasoningEffort } from './reasoning-models.js';
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
export { countTokens, tokenCounter } from './tokens.js';
export { unitScore } from './unit-score.js';
export { addUsage, NO_USAGE, type Usage } from './usage.js';
