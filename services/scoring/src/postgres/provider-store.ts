import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '#persistence';
import { forgetUnasked } from './provider-blocks.js';

@Injectable()
export class ProviderStore {
  constructor(private readonly work: UnitOfWork) {}

  /** Ends the troubles of providers that have no job to try them with. */
  forgetUnasked(): Promise<void> {
    return this.work.run((tx) => forgetUnasked(tx));
  }

  /** Every trouble there is. */
  troubles(): Promise<{ project: string; provider: string }[]> {
    return this.work.read('SELECT project, provider FROM scoring.provider_blocks', []);
  }
}
