import { jest } from '@jest/globals';

/** Real servers on a busy machine: a test that hangs is ended, one that is slow is not. */
jest.setTimeout(60_000);
