import type { Figures } from '../measure/figures.ts'
import type { Row } from '../measure/measure-lanes.ts'
import type { ScenarioResult } from '../report/results.ts'

/** A row of one round. */
export function row(subject: string, work: string, figures: Figures): Row {
  return { subject, work, figures, rounds: [figures] }
}

/** What a run has brought; all but the rows is of no account. */
export function resultOf(
  scenario: string,
  rows: readonly Row[],
  more: Partial<ScenarioResult> = {},
): ScenarioResult {
  return {
    scenario,
    measuredAt: '2026-01-02T03:04:05.678Z',
    commit: 'abc1234',
    command: 'scripts/bench/run --out docs',
    machine: '2 × processor',
    node: 'v24.0.0',
    generator: 'wrk 4',
    rounds: 5,
    rows,
    versions: { holdfast: '0.1.0' },
    missing: {},
    ...more,
  }
}
