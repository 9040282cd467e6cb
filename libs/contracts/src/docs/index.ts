export { generatedFiles, type GeneratedInput } from './generated-files.js';
