import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger } from 'pino';

/** Nest's logger over pino: one JSON line per message, on standard error, so that standard output stays for answers. */
export class PinoLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.logger.debug(...line(message, rest));
  }
  error(message: unknown, ...rest: unknown[]): void {
    this.logger.error(...line(message, rest));
  }
  warn(message: unknown, ...rest: unknown[]): void {
    this.logger.warn(...line(message, rest));
  }
  debug(message: unknown, ...rest: unknown[]): void {
    this.logger.debug(...line(message, rest));
  }
  verbose(message: unknown, ...rest: unknown[]): void {
    this.logger.trace(...line(message, rest));
  }
  fatal(message: unknown, ...rest: unknown[]): void {
    this.logger.fatal(...line(message, rest));
  }
}

/** Nest passes the context as the last string. */
function line(message: unknown, rest: unknown[]): [object, string] {
  const context = rest.findLast((one) => typeof one === 'string');
  const text =
    message instanceof Error
      ? (message.stack ?? message.message)
      : typeof message === 'string'
        ? message
        : JSON.stringify(message);
  return [context === undefined ? {} : { context }, text];
}

export function createLogger(service: string, level: string, destination: DestinationStream = process.stderr): Logger {
  return pino({ name: service, level, base: { service } }, destination);
}
