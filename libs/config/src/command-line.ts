/** What the command line reads from its environment beside the settings. */
export interface CommandLineEnvironment {
  /** Where the gateway answers, for example `http://127.0.0.1:4320`. */
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly ci: boolean;
  readonly noColor: boolean;
}

export function commandLineEnvironment(env: Readonly<Record<string, string | undefined>> = process.env): CommandLineEnvironment {
  return {
    url: env['FLEETMEND_URL'],
    key: env['FLEETMEND_KEY'],
    ci: env['CI'] === 'true',
    noColor: env['NO_COLOR'] !== undefined,
  };
}
