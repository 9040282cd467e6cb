import { runService } from '#service';
import { startValidation } from './validation.module.js';

await runService(startValidation);
