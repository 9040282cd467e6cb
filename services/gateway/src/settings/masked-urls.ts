import { REDACTED } from '#domain/text';

type Values = Readonly<Record<string, unknown>>;

const MASK = `?${REDACTED}`;

/**
 * Settings, or a patch of them, as they may be read and journaled: the query of a webhook's address, where its token is, is
 * masked. Whatever else is in them stays as it is, also what is no setting.
 */
export function maskedUrls<T extends Values>(settings: T): T {
  return withUrls(settings, (url) => url.replace(/\?.*$/s, MASK));
}

/** A patch with the addresses of `known` where it holds what was read of them: who changes what was read need not know tokens. */
export function unmaskedUrls<T extends Values>(patch: T, known: Values): T {
  return withUrls(patch, (url, metric) => {
    const own = urlOf(isMap(known['metrics']) ? known['metrics'][metric] : undefined);
    return own !== undefined && own.replace(/\?.*$/s, MASK) === url ? own : url;
  });
}

/** Metrics whose address is still masked: nobody knows the query any more. */
export function stillMasked(patch: Values): string[] {
  const metrics = isMap(patch['metrics']) ? patch['metrics'] : {};
  return Object.keys(metrics).filter((name) => urlOf(metrics[name])?.endsWith(MASK) === true);
}

function withUrls<T extends Values>(settings: T, change: (url: string, metric: string) => string): T {
  if (!isMap(settings['metrics'])) return settings;
  const metrics = Object.entries(settings['metrics']).map(([name, metric]) => {
    const url = urlOf(metric);
    return [name, url === undefined ? metric : { ...(metric as Values), url: change(url, name) }];
  });
  return { ...settings, metrics: Object.fromEntries(metrics) as unknown };
}

function urlOf(metric: unknown): string | undefined {
  return isMap(metric) && typeof metric['url'] === 'string' ? metric['url'] : undefined;
}

function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
