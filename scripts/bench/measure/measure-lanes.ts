import type { Lane } from '../scenarios/scenario.ts'
import { figureTitles, type Figure, type Figures } from './figures.ts'
import { median } from './median.ts'

/** What one subject has brought with one kind of work. */
export interface Row {
  readonly subject: string
  readonly work: string
  /** Medians of all rounds. */
  readonly figures: Figures
  /** All rounds, in their order. */
  readonly rounds: readonly Figures[]
}

/**
 * Measures the lanes in turn, `rounds` times, so that whatever else the machine does falls on all of them; one more
 * round goes before and does not count.
 */
export async function measureLanes(
  lanes: readonly Lane[],
  rounds: number,
  tell: (line: string) => void,
): Promise<readonly Row[]> {
  const results = lanes.map(() => [] as Figures[])
  for (let round = 0; round <= rounds; round++) {
    for (const [at, lane] of lanes.entries()) {
      tell(
        `${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}, ${lane.subject} ${lane.work}`,
      )
      const figures = await lane.measure(round)
      if (round > 0) results[at]?.push(figures)
    }
  }
  return lanes.map(({ subject, work }, at) => {
    const all = results[at] ?? []
    return { subject, work, figures: medians(all), rounds: all }
  })
}

function medians(all: readonly Figures[]): Figures {
  const names = (Object.keys(figureTitles) as Figure[]).filter((name) => name in (all[0] ?? {}))
  return Object.fromEntries(
    names.map((name) => [name, median(all.map((figures) => figures[name] ?? NaN))]),
  )
}
