import type { OtlpSpan } from '../span.js';

/** One entry of an export: a span, or why it is none. */
export type ExportedSpan = { readonly span: OtlpSpan } | { readonly rejected: string };
