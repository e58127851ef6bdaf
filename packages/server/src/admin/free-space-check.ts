import { formatBytes } from '@holdfast/core'
import type { Check } from './check.ts'
import { steadyCheck } from './steady-check.ts'

/** Whether there are `least` bytes of room, as `freeSpace` tells. */
export function freeSpaceCheck(freeSpace: () => Promise<number>, least: number): Check {
  return steadyCheck('free space', async () => {
    const bytes = await freeSpace()
    if (bytes >= least) return { ok: true, bytes, least }
    const why = `${formatBytes(bytes)} are left, less than the ${formatBytes(least)} of --min-free-space`
    return { ok: false, why, bytes, least }
  })
}
