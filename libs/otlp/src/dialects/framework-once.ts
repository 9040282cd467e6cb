import type { Reader } from '../dialect.js';
import type { SpanView } from '../span-view.js';

/** The reader, asked once for each span: several fields are read from one large JSON text. */
export function once<T>(reader: Reader<T>): Reader<T> {
  const known = new WeakMap<SpanView, { readonly value: T | undefined }>();
  return (span) => {
    let found = known.get(span);
    if (found === undefined) {
      found = { value: reader(span) };
      known.set(span, found);
    }
    return found.value;
  };
}
