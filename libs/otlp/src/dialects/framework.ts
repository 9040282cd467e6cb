import type { Dialect } from '../dialect.js';
import { genkit } from './framework-genkit.js';
import { googleAdk } from './framework-google-adk.js';
import { googleGenai } from './framework-google-genai.js';
import { langfuse } from './langfuse.js';
import { logfire } from './logfire.js';
import { mlflow } from './mlflow.js';
import { openaiAgents } from './openai-agents.js';
import { vercel } from './vercel.js';

/** The vocabularies of frameworks and their makers: more particular than the conventions that many of their spans follow as well. */
export const frameworks: readonly Dialect[] = [openaiAgents, vercel, googleAdk, googleGenai, genkit, mlflow, langfuse, logfire];
