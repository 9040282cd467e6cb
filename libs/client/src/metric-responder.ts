import { rpcSubject } from '../../contracts/src/rpc-subject.js';
import type { MetricRequest } from '../../contracts/src/rpc.js';
import type { Broker } from './connection.js';
import { respond, type Responder, type ResponderOptions, type Verdict } from './responder.js';

export interface MetricResponderOptions extends ResponderOptions {
  /** The name under which the project's settings register the metric. */
  readonly metric: string;
  evaluate(trace: MetricRequest): Verdict | Promise<Verdict>;
}

/** Connects a metric of your own: it is asked for every trace that its tier scores. As `verifier` in everything else. */
export function metricResponder(options: MetricResponderOptions & Broker): Promise<Responder> {
  const subject = rpcSubject(options.project, 'metric', options.metric);
  const name = `metric-${options.metric}`;
  return respond(options, { name, subject, answer: (trace) => options.evaluate(trace as MetricRequest) }, options);
}
