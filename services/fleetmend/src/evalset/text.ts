import type { EvalCaseDetail, EvalCaseSummary } from '#contracts';
import { table, type Column } from '../output/table.js';

export const caseColumns = (when: (micros: number | null) => string): readonly Column<EvalCaseSummary>[] => [
  { title: 'case', of: ({ id }) => id },
  { title: 'captured', of: ({ created_at: at }) => when(at) },
  { title: 'kind', of: ({ kind }) => kind },
  { title: 'replayable', of: ({ replayable }) => (replayable ? 'yes' : 'no') },
  { title: 'session', of: ({ session_id: id }) => id },
  { title: 'signature', of: ({ signature }) => signature.join(', ') },
  { title: 'notes', of: ({ notes }) => notes },
];

export function caseText({ replay_input: input, ...one }: EvalCaseDetail, when: (micros: number | null) => string): string {
  const fields: [string, string][] = [
    ...caseColumns(when).map(({ title, of }): [string, string] => [title, String(of(one))]),
    [
      'baseline',
      Object.entries(one.baseline)
        .map(([metric, value]) => `${metric} ${value}`)
        .join(', '),
    ],
    ['notice', one.notice_id ?? 'captured by hand'],
    ['set', `version ${one.version}`],
  ];
  const columns = [
    { title: 'field', of: ([name]: [string, string]) => name },
    { title: 'value', of: ([, value]: [string, string]) => value },
  ];
  return `${table(fields, columns)}\n\n${input === null ? 'no input: it cannot be run again' : JSON.stringify(input, null, 2)}`;
}
