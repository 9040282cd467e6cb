import type { AttributeValue, OtlpEvent } from './span.js';
import type { SpanView } from './span-view.js';

export interface Failure {
  readonly type?: string;
  readonly message?: string;
  readonly stack?: string;
}

/**
 * What went wrong, from the exception that the span recorded last and its status. An exception of a span that says OK, or
 * that is not an error and did not leave the span, was handled: it stays an event.
 */
export function failureOf(span: SpanView): Failure | undefined {
  const { code, message } = span.span.status;
  const exception = span.events.findLast((event) => event.name === 'exception' && counts(event, code));
  if (exception !== undefined) {
    span.readEvent(exception);
    return fromException(exception, message);
  }
  if (code !== 'ERROR') return undefined;
  const type = textOf(span.attribute('error.type'));
  const words = message === '' ? textOf(span.attribute('error.message')) : message;
  return type === undefined && words === undefined ? undefined : compact({ type, message: words });
}

function counts(event: OtlpEvent, code: 'UNSET' | 'OK' | 'ERROR'): boolean {
  if (code !== 'UNSET') return code === 'ERROR';
  const escaped = event.attributes.get('exception.escaped');
  return escaped !== false && (typeof escaped !== 'string' || escaped.toLowerCase() !== 'false');
}

function fromException(event: OtlpEvent, statusMessage: string): Failure {
  const message = textOf(event.attributes.get('exception.message')) ?? textOf(statusMessage);
  return compact({
    type: textOf(event.attributes.get('exception.type')),
    message,
    stack: textOf(event.attributes.get('exception.stacktrace')),
  });
}

function compact(failure: { [K in keyof Failure]: string | undefined }): Failure {
  return Object.fromEntries(Object.entries(failure).filter(([, value]) => value !== undefined));
}

function textOf(value: AttributeValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
