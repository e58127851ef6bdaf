import { jobKinds, type JobKind } from './job-kind.ts'
import type { Done } from './run-jobs.ts'

interface Cost {
  readonly title: string
  readonly kind: JobKind
  readonly seconds: number
  readonly processorSeconds: number
}

const shown = 10

/**
 * Where the time of a run went, a line each: the processor seconds of each kind of job, of all that the jobs do not wait for (containers,
 * what runs beside), and of the ten dearest jobs.
 *
 * @param machineSeconds of all processes of the machine during the run, where that is known
 */
export function describeCosts(
  done: readonly Done<{ readonly processorSeconds?: number | undefined }>[],
  machineSeconds?: number,
): string[] {
  const costs = done.map(
    ({ job: { title, kind }, seconds, result: { processorSeconds = 0 } }): Cost => {
      return { title, kind, seconds, processorSeconds }
    },
  )
  const total = sumOf(costs)
  const byKind = jobKinds.map((kind) => {
    const ofKind = costs.filter((cost) => cost.kind === kind)
    return row(sumOf(ofKind), `${kind} (${ofKind.length})`)
  })
  const rest =
    machineSeconds === undefined
      ? []
      : [row(machineSeconds - total, 'containers, and what else runs')]
  const dearest = costs
    .toSorted((one, other) => other.processorSeconds - one.processorSeconds)
    .slice(0, shown)
    .map(({ title, seconds, processorSeconds }) =>
      row(processorSeconds, `${title}, in ${seconds.toFixed(0)} s`),
    )
  return [
    'processor seconds by kind (jobs):',
    ...byKind,
    ...rest,
    row(machineSeconds ?? total, 'altogether'),
    `the ${dearest.length} dearest:`,
    ...dearest,
  ]
}

function sumOf(costs: readonly Cost[]): number {
  return costs.reduce((total, { processorSeconds }) => total + processorSeconds, 0)
}

function row(seconds: number, of: string): string {
  return `${seconds.toFixed(0).padStart(6)} ${of}`
}
