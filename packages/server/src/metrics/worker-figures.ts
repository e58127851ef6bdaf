import { Gauge, type Registry } from 'prom-client'
import type { WorkersState } from '../serve/server-status.ts'
import { createCounts } from './counts.ts'
import type { Figures } from '../serve/server-status.ts'

/** Figures about the workers. The function returned collects the workers' own figures; call it before the registry. */
export function createWorkerFigures(
  register: Registry,
  workers: WorkersState,
): () => Promise<readonly Figures[]> {
  const registers = [register]
  let silent = 0
  new Gauge({
    name: 'holdfast_workers',
    help: 'Workers that serve.',
    registers,
    collect() {
      this.set(workers.count())
    },
  })
  new Gauge({
    name: 'holdfast_workers_silent',
    help: 'Workers whose figures are missing, since they did not tell them in time.',
    registers,
    collect() {
      this.set(silent)
    },
  })
  const deaths = createCounts(register, {
    name: 'holdfast_worker_deaths_total',
    help: 'Workers that have died, and were replaced.',
    labelNames: [],
  })()
  workers.onDeath(() => deaths.add())
  return async () => {
    const answers = await workers.figures()
    const known = answers.filter((figures) => figures !== undefined)
    silent = answers.length - known.length
    return known
  }
}
