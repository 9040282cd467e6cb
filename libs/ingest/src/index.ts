export { type CutTurn, cutToFit } from './bounded.js';
export { cutText } from './cut-text.js';
export { JsonSyntaxError } from './json-error.js';
export { MAX_DEPTH } from './json-scan.js';
export { jsonBytes } from './json-size.js';
export { parseJson, type ParsedJson, stringifyJson } from './json.js';
export { toEpochMicros, toIso } from './time.js';
export { type FieldError, type NormalisedTurn, normaliseTurn, stringifyTurn, writtenTurn } from './turn.js';
