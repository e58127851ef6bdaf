import { formatBytes } from '@holdfast/core'
import { programName } from '@holdfast/credentials-file'
import { steadyCheck, type Check } from './check.ts'
import type { ServerStatus, WorkersState } from '../serve/server-status.ts'
import type { ClosableStore } from '../stores/closable-store.ts'

/** Whether the store keeps, returns and deletes a blob, tried with one that belongs to no customer. */
export function storeCheck(probe: ClosableStore['probe']): Check {
  return steadyCheck('store', async (signal) => {
    await probe(signal)
    return { ok: true }
  })
}

/** Whether `freeSpace` reports at least `least` bytes. */
export function freeSpaceCheck(freeSpace: () => Promise<number>, least: number): Check {
  return steadyCheck('free space', async () => {
    const bytes = await freeSpace()
    if (bytes >= least) return { ok: true, bytes, least }
    const why = `${formatBytes(bytes)} are left, less than the ${formatBytes(least)} of --min-free-space`
    return { ok: false, why, bytes, least }
  })
}

/**
 * Whether there are customers: without any, a server refuses every request. A customers file that was refused at a reload
 * does not make the server unready; the result mentions it.
 */
export function customersCheck({ customers }: Pick<ServerStatus, 'customers'>): Check {
  return {
    name: 'customers',
    look() {
      const { count, refusedSince } = customers()
      const refused = refusedSince && { refusedSince: refusedSince.toISOString() }
      if (count > 0) return { ok: true, count, ...refused }
      const why = `there are none, so that no one can log in; ${programName()} customers add NAME`
      return { ok: false, why, count, ...refused }
    },
  }
}

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
