import { parseArgs } from 'node:util'

/** What `scripts/soak` is to do. */
export interface SoakArguments {
  readonly minutes: number
  readonly seed: number
  readonly clients: number
}

/** The text of `scripts/soak --help`. */
export const soakHelp = `scripts/soak [--minutes N] [--seed S] [--clients C]

Starts real servers on a directory of their own, and clients that upload, replace, delete, read and list files at random,
with connections that break, wrong digests and exceeded quotas. Meanwhile the servers are killed (SIGKILL), stopped
(SIGTERM), and doubled. Every answer is held against all that may be true by the answers before, and after each restart
all files of all customers are.

  --minutes N   how long; a fraction is fine, such as 0.5. Default: 1
  --seed S      what all choices follow from, a whole number; default: a random one, which is printed at the end. The same
                seed makes each client do the same in the same order, and the same happen to the servers; how the clients'
                requests fall together is the machine's affair.
  --clients C   how many clients at once, 1 to 300; three share the files of one customer. Default: 12

Progress is on standard error, what was done on standard output. Exit code 0: all was well. 1: a violation; it is printed
with the history of the file and the seed. 2: wrong arguments.`

/**
 * Reads the command line; `undefined` when help is asked for.
 * @throws RangeError that says what is wrong
 */
export function soakArguments(
  args: readonly string[],
  randomSeed: () => number,
): SoakArguments | undefined {
  const { values } = parse(args)
  if (values.help === true) return undefined
  return {
    minutes: number('minutes', values.minutes ?? '1', /^\d+(\.\d+)?$/, [0, 10_000]),
    seed: number('seed', values.seed ?? `${randomSeed()}`, /^\d+$/, [0, 2 ** 31]),
    clients: number('clients', values.clients ?? '12', /^\d+$/, [1, 300]),
  }
}

function parse(args: readonly string[]) {
  const option = { type: 'string' } as const
  const options = {
    ...{ minutes: option, seed: option, clients: option },
    help: { type: 'boolean', short: 'h' },
  } as const
  try {
    return parseArgs({ args: [...args], options })
  } catch (cause) {
    throw new RangeError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

function number(
  flag: string,
  text: string,
  form: RegExp,
  [least, most]: readonly [number, number],
): number {
  const value = Number(text)
  if (form.test(text) && value >= least && value <= most) return value
  const kind = flag === 'minutes' ? 'a number' : 'a whole number'
  throw new RangeError(`--${flag} must be ${kind} from ${least} to ${most}; it is "${text}".`)
}
