const HEX: Readonly<Record<number, RegExp>> = { 8: /^[0-9a-f]{16}$/i, 16: /^[0-9a-f]{32}$/i };
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const ZEROS = /^0+$/;

/**
 * An id of `size` bytes as lower-case hexadecimal digits. OTLP/JSON says hexadecimal; the protobuf mapping of JSON would say base64,
 * and some send it. Null when it is neither, or all zeros, which means no id.
 */
export function idOf(value: unknown, size: 8 | 16): string | null {
  const hex = value instanceof Uint8Array ? fromBytes(value, size) : fromText(value, size);
  return hex === null || ZEROS.test(hex) ? null : hex;
}

function fromBytes(bytes: Uint8Array, size: number): string | null {
  return bytes.length === size ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex') : null;
}

function fromText(text: unknown, size: number): string | null {
  if (typeof text !== 'string') return null;
  if (HEX[size]?.test(text) === true) return text.toLowerCase();
  return text.length <= 24 && BASE64.test(text) ? fromBytes(Buffer.from(text, 'base64'), size) : null;
}
