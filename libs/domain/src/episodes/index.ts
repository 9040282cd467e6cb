export { groupNotices, nextEpisodes, recommendedScope, type EpisodesLine, type Groupable, type NextEpisode } from './episodes.js';
export { fingerprint, normalError } from './fingerprint.js';
