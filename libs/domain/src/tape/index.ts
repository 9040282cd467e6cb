export { tapeOf, TAPE_MAX_BYTES } from './tape-of.js';
