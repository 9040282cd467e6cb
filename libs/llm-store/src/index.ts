export { StoredCapabilities } from './stored-capabilities.js';
