import { SUBJECT_ROOT } from './event.js';

/** What can be asked over core NATS, request and reply. Apart from rpc.ts, so that the client needs no zod to name a subject. */
export type RpcName = 'verify' | 'metric' | 'settle' | 'rules.list' | 'rules.read' | 'rules.search' | 'rules.status';

/** `fm.<project>.rpc.<name>`; for a project's own metric, `fm.<project>.rpc.metric.<its name>`. */
export function rpcSubject(project: string, name: Exclude<RpcName, 'metric'>): string;
export function rpcSubject(project: string, name: 'metric', metric: string): string;
export function rpcSubject(project: string, name: RpcName, metric?: string): string {
  return [SUBJECT_ROOT, project, 'rpc', name, ...(metric === undefined ? [] : [metric])].join('.');
}
