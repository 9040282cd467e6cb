import type { RegressionCase, RegressionReport } from '#contracts';

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
/** Characters that XML 1.0 cannot hold, escaped or not. */
const UNWRITABLE = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

function xml(text: string): string {
  return text.replace(UNWRITABLE, '\uFFFD').replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

/** A run as JUnit XML, which builds show: a regressed case is a failure, one that could not be run is skipped. */
export function junitOf({ id, cases, created_at: began, ended_at: ended }: RegressionReport): string {
  const failures = cases.filter(({ status }) => status === 'regressed').length;
  const skipped = cases.filter(({ status }) => status === 'skipped' || status === null).length;
  const seconds = (((ended ?? began) - began) / 1_000_000).toFixed(3);
  const suite = `name="fleetmend regress ${xml(id)}" tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}" time="${seconds}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites>`,
    `<testsuite ${suite}>`,
    ...cases.map(testCase),
    '</testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase({ case_id: id, kind, repetition, status, reason, deltas }: RegressionCase): string {
  const head = `<testcase classname="${kind}" name="${xml(id)} run ${repetition}"`;
  if (status === 'regressed') return `${head}><failure message="${xml(JSON.stringify(deltas))}"/></testcase>`;
  if (status === 'skipped' || status === null) return `${head}><skipped message="${xml(reason ?? 'not run')}"/></testcase>`;
  return `${head}/>`;
}
