import { SetupError } from '@holdfast/core'

/**
 * The number in `--concurrency`.
 *
 * @throws SetupError unless it is from 1 to 64
 */
export function parseConcurrency(value: string): number {
  const count = /^\d{1,2}$/.test(value) ? Number(value) : 0
  if (count >= 1 && count <= 64) return count
  throw new SetupError(`--concurrency "${value}" is not a number from 1 to 64.`)
}
