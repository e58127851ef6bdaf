import { constants } from 'node:os'
import { styleText } from 'node:util'
import type { Finding, FindingMark } from '@holdfast/core'
import {
  type Config,
  findConfig,
  settingNames,
  type WrittenSettings,
} from '@holdfast/server/config'
import { visible } from '@holdfast/server/visible'
import type { Argv } from 'yargs'
import {
  refuseFlagsOfOtherStores,
  refuseFlagsWithoutSharedUrl,
  refuseStrayWords,
  withConfig,
  withSettings,
} from './flags.ts'
import { jsonLine, print } from './terminal/print.ts'
import { stopOnSignal } from './terminal/stop-on-signal.ts'
import { off } from './terminal/yargs.ts'

/** The flags of `holdfast doctor` that are no settings; used to guess misspelt flags. */
export const doctorFlags = ['json']

/** The flags on the command line. Other settings come from the environment and the configuration file. */
export type DoctorFlags = WrittenSettings & {
  readonly json: boolean
  readonly config?: string
  readonly '--'?: readonly string[]
}

/** The options of `holdfast doctor`: those of the server, and how to report. */
export function describeDoctor(yargs: Argv): Argv {
  return withConfig(withSettings(yargs, settingNames))
    .option('json', { ...off, describe: 'Report in JSON, for programs' })
    .example('$0 doctor --data /srv/files', 'give the flags that the server gets')
    .example('$0 doctor --config holdfast.yaml --json', 'for a program')
    .epilog(
      [
        'Looks at the machine, the customers file and the store, says what is wrong and what to do, and changes no file. It may run while the server does; run it as the same user.',
        'The exit code is 0 without a problem, also with warnings, and 1 otherwise.',
      ].join('\n\n'),
    )
}

/** Checks all that the server needs; resolves with the exit code. */
export async function doctor(flags: DoctorFlags): Promise<number> {
  refuseStrayWords(flags)
  const config = await findConfig(flags, process.env)
  refuseFlagsOfOtherStores(flags, [config.store])
  refuseFlagsWithoutSharedUrl(flags, config)
  return runDoctor(config, flags.json)
}

interface Section {
  readonly title: string
  readonly checks: Finding[]
}

/**
 * Checks what the configuration names. Reports on standard output, at once or, in JSON, at the end. Resolves with the exit code: 0 without
 * a problem, 1 with one, 128 plus its number if a signal ended it.
 */
async function runDoctor(config: Config, isJson: boolean): Promise<number> {
  const interruption = stopOnSignal()
  const write = isJson ? async () => {} : print
  try {
    const sections = await collect(config, interruption.signal, write)
    const summary = countMarks(sections)
    if (isJson) await print(jsonLine({ sections, summary }, 2))
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
): Promise<readonly Section[]> {
  // Loaded only now: without the stores, help and error messages come twice as fast.
  const { examine } = await import('@holdfast/server/doctor')
  const sections: Section[] = []
  for await (const { title, findings } of examine(config, signal)) {
    const checks: Finding[] = []
    await write(`${sections.length === 0 ? '' : '\n'}${title}\n`)
    for await (const found of findings) {
      checks.push(found)
      await write(`${reportLines(found, paint).join('\n')}\n`)
    }
    sections.push({ title, checks })
  }
  return sections
}

function countMarks(sections: readonly Section[]) {
  const count = { ok: 0, warning: 0, problem: 0, skipped: 0 }
  for (const { mark } of sections.flatMap(({ checks }) => checks)) count[mark]++
  return count
}

const colours = { ok: 'green', warning: 'yellow', problem: 'red', skipped: 'dim' } as const

/** Colours on a terminal that has them, unless `NO_COLOR` is set. */
const paint: Paint = (mark, text) => styleText(colours[mark], text, { stream: process.stdout })

/** How many findings have each mark. */
type MarkCount = Readonly<Record<FindingMark, number>>

/** Colours `text` for a terminal according to `mark`. */
type Paint = (mark: FindingMark, text: string) => string

const markWidth = 8
const checkWidth = 18
const indent = '  '

/** One line for the finding, and one for each of its remedies. */
export function reportLines({ check, mark, message, remedies }: Finding, paint: Paint): string[] {
  const marked = paint(mark, mark.padEnd(markWidth))
  const first = `${indent}${marked} ${check.padEnd(checkWidth)} ${visible(message)}`
  const margin = indent + ' '.repeat(markWidth + 1 + checkWidth + 1)
  return [first, ...remedies.map((remedy) => `${margin}-> ${visible(remedy)}`)]
}

/** The last line: the number of problems and warnings, and whether the server can run. */
export function summaryLine({ ok, warning, problem, skipped }: MarkCount): string {
  const numbers = [
    counted(problem, 'problem', 'No'),
    counted(warning, 'warning', 'no'),
    `${ok} ok`,
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ]
  const advice = problem > 0 ? 'Fix the problems first.' : 'The server can run.'
  return `${numbers.join(', ')}. ${advice}`
}

function counted(number: number, word: string, none: string): string {
  return number === 1 ? `1 ${word}` : `${number === 0 ? none : number} ${word}s`
}
