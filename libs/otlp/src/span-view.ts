import type { Attributes, AttributeValue, OtlpEvent, OtlpSpan } from './span.js';

/** A span while a dialect reads it: remembers which attributes had a place, so that the others can be kept as metadata. */
export class SpanView {
  private readonly read = new Set<string>();
  private readonly readEvents = new Set<OtlpEvent>();
  private readonly said = new Set<string>();
  private families: Set<string> | undefined;

  constructor(readonly span: OtlpSpan) {}

  get name(): string {
    return this.span.name;
  }

  get scope(): string {
    return this.span.scope.name;
  }

  get resource(): Attributes {
    return this.span.resource;
  }

  get events(): readonly OtlpEvent[] {
    return this.span.events;
  }

  /** The value, remembered as read; undefined for absent and null. */
  attribute(key: string): AttributeValue | undefined {
    const value = this.span.attributes.get(key);
    if (value === undefined || value === null) return undefined;
    this.read.add(key);
    return value;
  }

  /** Looks without reading. */
  peek(key: string): AttributeValue | undefined {
    return this.span.attributes.get(key) ?? undefined;
  }

  has(key: string): boolean {
    return this.span.attributes.has(key);
  }

  /** Whether some attribute begins with `family.`: one or two segments, for example `llm` or `gen_ai.prompt`. */
  hasFamily(family: string): boolean {
    this.families ??= familiesOf(this.span.attributes);
    return this.families.has(family);
  }

  /** Every attribute under `prefix` (which ends in a dot), with the rest of its key; remembered as read. */
  *under(prefix: string): Generator<readonly [rest: string, value: AttributeValue]> {
    if (!this.hasFamily(prefix.split('.', 2).filter(Boolean).join('.'))) return;
    for (const [key, value] of this.span.attributes) {
      if (!key.startsWith(prefix)) continue;
      this.read.add(key);
      yield [key.slice(prefix.length), value];
    }
  }

  /** Says that an event's content had a place. */
  readEvent(event: OtlpEvent): void {
    this.readEvents.add(event);
  }

  /** Says what had to be left out. */
  note(text: string): void {
    this.said.add(text);
  }

  get notes(): ReadonlySet<string> {
    return this.said;
  }

  wasRead(key: string): boolean {
    return this.read.has(key);
  }

  wasEventRead(event: OtlpEvent): boolean {
    return this.readEvents.has(event);
  }
}

function familiesOf(attributes: Attributes): Set<string> {
  const families = new Set<string>();
  for (const key of attributes.keys()) {
    const first = key.indexOf('.');
    if (first < 0) continue;
    families.add(key.slice(0, first));
    const second = key.indexOf('.', first + 1);
    if (second > 0) families.add(key.slice(0, second));
  }
  return families;
}
