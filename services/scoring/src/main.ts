import { runService } from '#service';
import { startScoring } from './scoring.module.js';

await runService(startScoring);
