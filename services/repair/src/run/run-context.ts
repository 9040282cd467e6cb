import type { ProjectSettings } from '#contracts';
import type { EpisodeFacts } from '#domain/repair';
import type { FilingContext } from '#domain/rules';
import type { ClaimedEpisode } from '../claimed-episode.js';
import type { RunTime } from './run-time.js';

/** Everything that the tools of one run may reach. */
export interface RunContext {
  readonly episode: ClaimedEpisode;
  readonly facts: EpisodeFacts;
  readonly filing: FilingContext;
  readonly settings: ProjectSettings;
  readonly model: string;
  readonly time: RunTime;
}
