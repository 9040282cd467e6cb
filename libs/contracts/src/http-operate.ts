import { z } from 'zod';
import { keyScopes, projectName, projectSettings } from './settings.js';
import { timeInput } from './turn.js';

const micros = z.int();

export const settingOrigins = ['default', 'process', 'project'] as const;
export type SettingOrigin = (typeof settingOrigins)[number];

export const effectiveSettings = z.object({
  project: projectName,
  /** Of the project's own row; 0 while it has none. */
  version: z.int(),
  settings: projectSettings,
  /** Per setting, and per entry of a map (`thresholds.coherence`): the default, the gateway's file or environment, or the project's row. */
  origins: z.record(z.string(), z.enum(settingOrigins)),
});
export type EffectiveSettings = z.output<typeof effectiveSettings>;

/** Any part of the settings. null takes the project's own value away, also of one entry of a map. */
export const settingsPatch = z
  .record(z.string(), z.unknown())
  .describe('Any part of the settings; null takes the own value of the project away, also of one entry of a map.');

export const project = z.object({ project: projectName, created_at: micros });
export type Project = z.output<typeof project>;

export const createProjectRequest = z.strictObject({ project: projectName });

export const apiKey = z.object({
  id: z.string(),
  project: projectName,
  name: z.string(),
  scopes: z.array(z.enum(keyScopes)),
  created_at: micros,
  expires_at: micros.nullable(),
  revoked_at: micros.nullable(),
});
export type ApiKey = z.output<typeof apiKey>;

export const createKeyRequest = z.strictObject({
  name: z.string().trim().min(1).max(100),
  scopes: z.array(z.enum(keyScopes)).min(1),
  expires_at: timeInput.nullish().describe('Without it the key holds until it is revoked.'),
  project: projectName.optional().describe('Another project than the own one: only while no key exists at all.'),
});

/** `key` is shown this once; only its hash is stored. */
export const createdKey = apiKey.extend({ key: z.string(), notes: z.array(z.string()) });
export type CreatedKey = z.output<typeof createdKey>;

/** `key`: the new project's first key (scope operate), when keys are required; null while none is. */
export const createdProject = project.extend({ key: createdKey.nullable() });
export type CreatedProject = z.output<typeof createdProject>;
