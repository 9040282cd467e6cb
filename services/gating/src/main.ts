import { runService } from '#service';
import { startGating } from './gating.module.js';

await runService(startGating);
