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
 * round goes before and does not count. In each round one kind of work comes after the other, and the subjects do it in an order
 * that `random` shuffles, so that turns that are compared are neighbours, and no subject always comes after the same one.
 */
export async function measureLanes(
  lanes: readonly Lane[],
  rounds: number,
  tell: (line: string) => void,
  random: () => number = Math.random,
): Promise<readonly Row[]> {
  const results = new Map(lanes.map((lane) => [lane, [] as Figures[]]))
  for (let round = 0; round <= rounds; round++) {
    const stage = round === 0 ? 'warming up' : `round ${round} of ${rounds}`
    for (const lane of inOrder(lanes, random)) {
      tell(`${stage}, ${lane.subject} ${lane.work}`)
      const figures = await lane.measure(round)
      if (round > 0) results.get(lane)?.push(figures)
    }
  }
  return [...results].map(([{ subject, work }, all]) => {
    return { subject, work, figures: medians(all), rounds: all }
  })
}

function inOrder(lanes: readonly Lane[], random: () => number): readonly Lane[] {
  const byWork = [...Map.groupBy(lanes, ({ work }) => work).values()]
  return byWork.flatMap((some) => shuffled(some, random))
}

function shuffled(lanes: readonly Lane[], random: () => number): readonly Lane[] {
  const numbered = lanes.map((lane) => ({ lane, number: random() }))
  return numbered.sort((one, other) => one.number - other.number).map(({ lane }) => lane)
}

function medians(all: readonly Figures[]): Figures {
  const names = (Object.keys(figureTitles) as Figure[]).filter((name) => name in (all[0] ?? {}))
  return Object.fromEntries(
    names.map((name) => [name, median(all.map((figures) => figures[name] ?? NaN))]),
  )
}
