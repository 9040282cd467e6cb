import { z } from 'zod';
import { page } from '#contracts';
import type { Answer, Named } from './route.js';

/** How the answers of routes are written down. */
export const ok = (body: Named, description: string, status = 200): Answer => ({ status, description, body });
export const other = (mediaType: string, description: string): Answer => ({ status: 200, description, mediaType });
export const pageOf = (name: string, item: z.ZodType): Named => ({ name: `${name}Page`, schema: page(item) });
export const oneOrMany = (schema: z.ZodType): z.ZodType => z.union([schema, z.array(schema)]);
