import { runService } from '#service';
import { startMailbox } from './mailbox.module.js';

await runService(startMailbox);
