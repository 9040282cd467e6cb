import { projectSettings, type Score, type Turn } from '#contracts';
import { answerText, runCheck } from '#domain/checks';
import { foldTurn, gateConfig, metricsOfTier, signatureOf, standingSignatures, untouched, type TierAnswer } from '#domain/gate';
import { normaliseTurn } from '#ingest';
import type { FleetTurn } from './turn-of.js';

export interface JudgedTurn {
  readonly turn: number;
  readonly fired: readonly string[];
  readonly standing: readonly string[];
  readonly scores: readonly Score[];
}

/** What the loop finds in the turns of one session, with the default settings, without servers: the real checks and the real gate. */
export function judgeTurns(turns: readonly FleetTurn[]): JudgedTurn[] {
  const config = gateConfig(projectSettings.parse({}));
  const earlier: Turn[] = [];
  let trajectory = untouched;
  return turns.map((given) => {
    const turn = normalised(given);
    const earlierAnswers = earlier.slice(-3).reverse().map(answerText);
    const tier = (number: 1 | 2): TierAnswer => ({
      answer: 1,
      pending: false,
      scores: scored(turn, metricsOfTier(config, number), earlierAnswers),
    });
    const evidence = { 1: tier(1), 2: tier(2) };
    const { after, fired, asked } = foldTurn(trajectory, evidence, config);
    trajectory = after;
    earlier.push(turn);
    return {
      turn: turn.turn_index,
      fired: [...new Set(fired.map(signatureOf))].sort(),
      standing: standingSignatures(after),
      scores: [...evidence[1].scores, ...(asked.includes(2) ? evidence[2].scores : [])],
    };
  });
}

/** Every turn of the fleet has one trace. */
function scored(turn: Turn, metrics: readonly string[], earlierAnswers: readonly string[]): Score[] {
  return (turn.traces ?? []).flatMap((trace) => metrics.map((metric) => runCheck(metric, trace, { turn, earlierAnswers })));
}

function normalised(given: FleetTurn): Turn {
  const result = normaliseTurn(given);
  if (!result.ok) throw new Error(`a turn of the fleet is none: ${JSON.stringify(result.errors)}`);
  return result.turn;
}
