import type { ProjectSettingsPatch } from '#contracts';

/** Later settings over earlier ones; maps (`thresholds`, `gate_overrides`) are joined entry by entry. */
export function mergeSettings(...patches: readonly ProjectSettingsPatch[]): ProjectSettingsPatch {
  return patches.reduce<ProjectSettingsPatch>((merged, patch) => {
    const maps = {
      ...(merged.thresholds || patch.thresholds ? { thresholds: { ...merged.thresholds, ...patch.thresholds } } : {}),
      ...(merged.gate_overrides || patch.gate_overrides
        ? { gate_overrides: { ...merged.gate_overrides, ...patch.gate_overrides } }
        : {}),
    };
    return { ...merged, ...patch, ...maps };
  }, {});
}
