import { runService } from '#service';
import { startRepair } from './repair.module.js';

await runService(startRepair);
