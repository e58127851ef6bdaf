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
 * round goes before and does not count. Each round begins with the next subject, for a disk may be at its fastest for
 * the first one; the lanes of a subject keep their order.
 */
export async function measureLanes(
  lanes: readonly Lane[],
  rounds: number,
  tell: (line: string) => void,
): Promise<readonly Row[]> {
  const results = new Map(lanes.map((lane) => [lane, [] as Figures[]]))
  for (let round = 0; round <= rounds; round++) {
    const stage = round === 0 ? 'warming up' : `round ${round} of ${rounds}`
    for (const lane of startingWith(round, lanes)) {
      tell(`${stage}, ${lane.subject} ${lane.work}`)
      const figures = await lane.measure(round)
      if (round > 0) results.get(lane)?.push(figures)
    }
  }
  return [...results].map(([{ subject, work }, all]) => {
    return { subject, work, figures: medians(all), rounds: all }
  })
}

/** All lanes, by subject; a round later the second subject is the first. */
function startingWith(round: number, lanes: readonly Lane[]): readonly Lane[] {
  const bySubject = [...Map.groupBy(lanes, ({ subject }) => subject).values()]
  const first = round % bySubject.length
  return [...bySubject.slice(first), ...bySubject.slice(0, first)].flat()
}

function medians(all: readonly Figures[]): Figures {
  const names = (Object.keys(figureTitles) as Figure[]).filter((name) => name in (all[0] ?? {}))
  return Object.fromEntries(
    names.map((name) => [name, median(all.map((figures) => figures[name] ?? NaN))]),
  )
}
