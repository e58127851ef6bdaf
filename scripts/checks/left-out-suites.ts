import { readFileSync } from 'node:fs'

/**
 * The titles of the suites that were left out, since they need containers: one each, in order. `undefined` in a run
 * without the waiver, for which `scripts/test` names a file in `HOLDFAST_WITHOUT_CONTAINERS`.
 */
export function leftOutSuites(): string[] | undefined {
  const file = process.env['HOLDFAST_WITHOUT_CONTAINERS']
  if (!file) return undefined
  const titles = readFileSync(file, 'utf8').split('\n')
  return [...new Set(titles.filter((title) => title !== ''))].sort()
}
