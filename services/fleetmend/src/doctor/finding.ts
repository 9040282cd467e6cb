/** One line of the doctor. `advice` says what to do when it is not ok. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly advice?: string;
}

export const ok = (check: string, detail: string): Finding => ({ check, status: 'ok', detail });
export const warn = (check: string, detail: string, advice: string): Finding => ({ check, status: 'warn', detail, advice });
export const fail = (check: string, detail: string, advice: string): Finding => ({ check, status: 'fail', detail, advice });

/** What a check found; or that it could not be made, which is a failure too. */
export async function findings(check: string, advice: string, work: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await work();
  } catch (error) {
    return [fail(check, error instanceof Error ? error.message : String(error), advice)];
  }
}
