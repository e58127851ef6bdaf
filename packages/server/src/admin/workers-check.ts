import type { WorkersState } from '../serve/server-status.ts'
import type { Check } from './check.ts'
import { steadyCheck } from './steady-check.ts'

/** Whether all workers serve. */
export function workersCheck({
  wanted,
  answering,
}: Pick<WorkersState, 'wanted' | 'answering'>): Check {
  return steadyCheck('workers', async (signal) => {
    const count = await answering(signal)
    if (count === wanted) return { ok: true, count, wanted }
    return { ok: false, why: `${count} of ${wanted} answer`, count, wanted }
  })
}
