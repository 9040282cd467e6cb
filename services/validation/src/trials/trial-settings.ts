import type { ProjectSettings } from '#contracts';
import { familywiseAlpha, type TrialSettings } from '#domain/evidence';

/** What a trial keeps of the settings in force when it began: a change of them applies to later trials. */
export interface KeptSettings extends TrialSettings {
  readonly trial_window_turns: number;
  readonly trial_session_idle_s: number;
  readonly trial_close_grace_s: number;
  readonly ablation_max_sessions: number;
}

/** @param candidates in trial in the project, this one included */
export function keptSettings(settings: ProjectSettings, candidates: number): KeptSettings {
  const { trial_alpha: alpha, trial_familywise: shared } = settings;
  return {
    trial_alpha: shared ? familywiseAlpha(alpha, candidates) : alpha,
    trial_alpha_harm: settings.trial_alpha_harm,
    rule_promote_margin: settings.rule_promote_margin,
    trial_max_sessions: settings.trial_max_sessions,
    trial_max_days: settings.trial_max_days,
    trial_window_turns: settings.trial_window_turns,
    trial_session_idle_s: settings.trial_session_idle_s,
    trial_close_grace_s: settings.trial_close_grace_s,
    ablation_max_sessions: settings.ablation_max_sessions,
  };
}
