import { constants } from 'node:os'
import { styleText } from 'node:util'
import type { Finding } from '@holdfast/core'
import type { Config } from '@holdfast/server/config'
import { examine } from '@holdfast/server/doctor'
import { jsonLine } from '../terminal/json-line.ts'
import { stopOnSignal } from '../terminal/stop-on-signal.ts'
import { print } from '../terminal/print.ts'
import { reportLines, summaryLine, type Paint } from './report-lines.ts'

interface Report {
  readonly title: string
  readonly checks: Finding[]
}

/**
 * Examines what the configuration names and reports on standard output, at once or, in JSON, at the end; resolves
 * with the exit code: 0 without a problem, 1 with one, 128 and its number if a signal ended it.
 */
export async function runDoctor(config: Config, isJson: boolean): Promise<number> {
  const interruption = stopOnSignal()
  const write = isJson ? async () => {} : print
  try {
    const reports = await collect(config, interruption.signal, write)
    const summary = countMarks(reports)
    if (isJson) await print(jsonLine({ sections: reports, summary }, 2))
    else await print(`\n${summaryLine(summary)}\n`)
    return summary.problem > 0 ? 1 : 0
  } catch (error) {
    const signal = interruption.name()
    if (signal !== undefined) return 128 + constants.signals[signal]
    throw error
  }
}

async function collect(
  config: Config,
  signal: AbortSignal,
  write: (text: string) => Promise<void>,
): Promise<readonly Report[]> {
  const reports: Report[] = []
  for await (const { title, findings } of examine(config, signal)) {
    const checks: Finding[] = []
    await write(`${reports.length === 0 ? '' : '\n'}${title}\n`)
    for await (const found of findings) {
      checks.push(found)
      await write(`${reportLines(found, paint).join('\n')}\n`)
    }
    reports.push({ title, checks })
  }
  return reports
}

function countMarks(reports: readonly Report[]) {
  const count = { ok: 0, warning: 0, problem: 0, skipped: 0 }
  for (const { mark } of reports.flatMap(({ checks }) => checks)) count[mark]++
  return count
}

const colours = { ok: 'green', warning: 'yellow', problem: 'red', skipped: 'dim' } as const

/** On a terminal that has colours, unless `NO_COLOR` is set. */
const paint: Paint = (mark, text) => styleText(colours[mark], text, { stream: process.stdout })
