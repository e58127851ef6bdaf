import { isHoldfastError } from '@holdfast/client'
import { CommandError } from '../errors/command-error.ts'
import { exitCodes } from '../errors/exit-codes.ts'
import { textIn, type VerbArguments } from '../verb/client-verb.ts'

/** The flags of what the API has fields for. */
const flags: ReadonlyMap<string, string> = new Map([
  ['expiresIn', 'expires-in'],
  ['maxFiles', 'max-files'],
  ['maxSize', 'max-size'],
])

/** From the longest on, in seconds. */
const units: readonly (readonly [unit: string, seconds: number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
]

/** The error of the API about what a link is to be, in the words of the command line; any other error as it is. */
export function explainLinkRefusal(error: unknown, argv: VerbArguments): unknown {
  if (!isHoldfastError(error, 'invalid-field')) return error
  const [, field = '', reason = ''] = /^Invalid (\w+): it (.*)$/.exec(error.message) ?? []
  const flag = flags.get(field)
  const text = flag === undefined ? undefined : textIn(argv, flag)
  if (text === undefined) return error
  const [, most] = /seconds from 1 to (\d+)$/.exec(reason) ?? []
  const said = most === undefined ? reason : `must be at most ${period(Number(most), text)} here`
  return new CommandError(exitCodes.failed, `--${flag} "${text}" ${said}.`, [], error)
}

/** A time in the unit of `text`, or in a shorter one where it is less than 1 of those; rounded down. */
function period(seconds: number, text: string): string {
  const own = units.findIndex(([unit]) => text.trim().endsWith(unit) && !text.endsWith('ms'))
  const [unit, length] = units.slice(own < 0 ? -1 : own).find(([, each]) => seconds >= each) ?? [
    's',
    1,
  ]
  return `${Math.floor((seconds / length) * 10) / 10}${unit}`
}
