import type { ProjectSettingsPatch } from '#contracts';

const MAPS = ['thresholds', 'gate_overrides', 'evaluators', 'metrics'] as const satisfies readonly (keyof ProjectSettingsPatch)[];

/** Later settings over earlier ones; maps (`thresholds`, `gate_overrides`, `evaluators`, `metrics`) are joined entry by entry. */
export function mergeSettings(...patches: readonly ProjectSettingsPatch[]): ProjectSettingsPatch {
  return patches.reduce<ProjectSettingsPatch>((merged, patch) => {
    const maps = MAPS.filter((name) => merged[name] !== undefined || patch[name] !== undefined).map((name) => [
      name,
      { ...merged[name], ...patch[name] },
    ]);
    return { ...merged, ...patch, ...(Object.fromEntries(maps) as ProjectSettingsPatch) };
  }, {});
}
