import { readFile } from 'node:fs/promises'
import type { Row } from '../measure/measure-lanes.ts'

/** What one run of a scenario has brought, and what it was. */
export interface ScenarioResult {
  readonly scenario: string
  /** ISO 8601. */
  readonly measuredAt: string
  readonly commit: string
  readonly command: string
  readonly machine: string
  readonly node: string
  /** What sent small requests. */
  readonly generator: string
  readonly rounds: number
  readonly rows: readonly Row[]
  readonly versions: Readonly<Record<string, string>>
  readonly missing: Readonly<Record<string, string>>
}

/** The results in a file, none where there is no such file. JSON has no NaN, but `null` for it: such figures are left out. */
export async function readResults(path: string): Promise<readonly ScenarioResult[]> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '[]'
    throw error
  })
  return JSON.parse(text, (_name, value: unknown) => value ?? undefined) as ScenarioResult[]
}

/** The newer results, and those of `earlier` whose scenarios are not among them; in the order of `scenarios`. */
export function mergeResults(
  scenarios: readonly string[],
  earlier: readonly ScenarioResult[],
  newer: readonly ScenarioResult[],
): readonly ScenarioResult[] {
  return scenarios.flatMap((name) => {
    const isIt = ({ scenario }: ScenarioResult) => scenario === name
    return newer.find(isIt) ?? earlier.find(isIt) ?? []
  })
}
