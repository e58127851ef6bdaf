import { isMoreBetter, type Figure } from '../measure/figures.ts'
import type { Row } from '../measure/measure-lanes.ts'
import { summaryOf, type Summary } from '../measure/median.ts'

/** Something that holdfast is to reach in a scenario. */
export interface Aim {
  readonly scenario: string
  readonly what: string
  /** The bound that is to be kept: at least, or at most, so much. */
  readonly least?: number
  readonly most?: number
  readonly unit: '×' | 'MiB' | 'ms' | 'µs' | '%' | 's/GiB'
  /** What it is to be held against; NaN where something was not measured. */
  measured(find: Find): number
}

export type Bound = { readonly least: number } | { readonly most: number }

/** Finds what a subject has brought with some work in a round; NaN where it has not. */
export type Find = (subject: string, work: string, figure: Figure) => number

/** Finds figures of a round in `rows`. */
function finderIn(rows: readonly Row[], round: number): Find {
  return (subject, work, figure) =>
    rows.find((row) => row.subject === subject && row.work === work)?.rounds[round]?.[figure] ?? NaN
}

/**
 * What `rows` say of `aim`. Figures are compared within their round, where they were measured within seconds: a machine may be twice
 * as fast a minute later.
 */
export function valueOf(aim: Aim, rows: readonly Row[]): Summary {
  const rounds = Math.max(0, ...rows.map((row) => row.rounds.length))
  const values = Array.from({ length: rounds }, (_, round) => aim.measured(finderIn(rows, round)))
  return summaryOf(values.filter((value) => !Number.isNaN(value)))
}

/** Whether the bound is kept; `undefined` where nothing was measured. */
export function isReached({ least = -Infinity, most = Infinity }: Aim, value: number) {
  return Number.isNaN(value) ? undefined : value >= least && value <= most
}

/** A figure of holdfast as a multiple of that of another subject, or of other work. */
export function against(
  scenario: string,
  what: string,
  bound: Bound,
  [figure, work, other, otherWork = work]: readonly [Figure, string, string, string?],
): Aim {
  return {
    ...{ scenario, what, ...bound, unit: '×' },
    measured: (find) => find('holdfast', work, figure) / find(other, otherWork, figure),
  }
}

/** How much faster holdfast is than another subject at the same work, by the figure that says it. */
export function fasterThan(
  scenario: string,
  other: string,
  least: number,
  [figure, work, otherWork = work]: readonly [Figure, string, string?],
): Aim {
  const measured = (find: Find) => {
    const [own, others] = [find('holdfast', work, figure), find(other, otherWork, figure)]
    return isMoreBetter(figure) ? own / others : others / own
  }
  return { scenario, what: `speed of ${work}s, against ${other}`, least, unit: '×', measured }
}

const units: Partial<Record<Figure, Aim['unit']>> = {
  cpuMicroseconds: 'µs',
  cpuPerGiB: 's/GiB',
  growthMiB: 'MiB',
  peakMiB: 'MiB',
}

/** A figure of holdfast that is not to be above a bound, in the figure's own unit. */
export function atMost(
  scenario: string,
  what: string,
  most: number,
  [figure, work]: readonly [Figure, string],
): Aim {
  return {
    ...{ scenario, what, most, unit: units[figure] ?? 'ms' },
    measured: (find) => find('holdfast', work, figure),
  }
}

/** The aim for the single executable instead of the program for Node.js. */
export function byExecutable(aim: Aim): Aim {
  return {
    ...aim,
    what: `${aim.what}, by the single executable`,
    measured: (find) =>
      aim.measured((subject, ...what) =>
        find(subject === 'holdfast' ? 'executable' : subject, ...what),
      ),
  }
}
