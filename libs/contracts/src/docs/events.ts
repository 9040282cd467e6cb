import { consumers, type ConsumerContract } from '../catalogue.js';
import type { EventContract } from '../event.js';
import { deadLetter, SYSTEM_PROJECT } from '../system.events.js';

/** `notice.posted` as a name for code: `noticePosted`. */
export function camelCase(type: string): string {
  return type.replace(/[.-](\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The subject with names in the place of its variable tokens: `fm.<project>.notice.posted.<severity>.<session>`. */
export function subjectOf(event: EventContract, name: (token: string) => string): string {
  const tail: string[] = event.tail.map(name);
  return event.subject(event.type === 'health' ? SYSTEM_PROJECT : name('project'), ...tail);
}

export function consumersOf(event: EventContract): ConsumerContract[] {
  return Object.values<ConsumerContract>(consumers).filter((consumer) => consumer.event.type === event.type);
}

export function deadLetterSubject({ durable }: ConsumerContract, project: string): string {
  return deadLetter.subject(project, durable);
}
