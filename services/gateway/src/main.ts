import { runService } from '#service';
import { startGateway } from './start.js';

await runService(startGateway);
