import type { Done } from './run-jobs.ts'

interface Cost {
  readonly title: string
  readonly seconds: number
  readonly processorSeconds: number
}

const shown = 12

/** Two lines on where the time of a run goes: the sum of its jobs, and those that took most of the processors. */
export function describeCosts(
  done: readonly Done<{ readonly processorSeconds?: number | undefined }>[],
): string[] {
  const costs = done.map(({ job: { title }, seconds, result: { processorSeconds = 0 } }): Cost => {
    return { title, seconds, processorSeconds }
  })
  const most = costs
    .toSorted((one, other) => other.processorSeconds - one.processorSeconds)
    .slice(0, shown)
    .map(({ title, ...times }) => `${title.replace(/^.*\//, '')} ${timesOf(times)}`)
  const sum = (key: 'seconds' | 'processorSeconds') =>
    costs.reduce((total, cost) => total + cost[key], 0)
  const all = { seconds: sum('seconds'), processorSeconds: sum('processorSeconds') }
  return [
    `processor seconds (seconds from start to end) of all jobs, without containers: ${timesOf(all)}`,
    `most of them: ${most.join(', ')}`,
  ]
}

function timesOf({ processorSeconds, seconds }: Omit<Cost, 'title'>): string {
  return `${processorSeconds.toFixed(0)} (${seconds.toFixed(0)})`
}
