import { parseArgs } from 'node:util'

/** What `scripts/fuzz` is to do. */
export interface FuzzArguments {
  readonly runs: number
  readonly seed: number
  /** The names of the targets, in the order in which they are fed. */
  readonly targets: readonly string[]
  /** Leads to one input of one target. */
  readonly path: string | undefined
}

/** The text of `scripts/fuzz --help`, where there are these targets. */
export const fuzzHelp = (
  targets: readonly string[],
) => `scripts/fuzz [--runs N] [--seed S] [--target T] [--path P]

Makes inputs at random, most of them almost right, feeds them to a server in this process and to the functions that read
files and names, and holds what becomes of each against a model that was written apart from the code: what is right is
taken as it is, what is wrong is refused in the usual form and changes nothing, a stranger gets nothing, and nothing
fails, hangs or leaves something.

  --runs N    how many inputs, which the targets share. Default: 100000
  --seed S    what all inputs follow from, a whole number; default: a random one, which is printed
  --target T  only this target; may be given several times. There are
              ${wrapped(targets)}
  --path P    only the input that P leads to, as a finding shows it; needs --seed and one --target

Progress is on standard error, what was done on standard output. Exit code 0: all was well. 1: a finding; it is printed with
the input, made as small as it goes, and the command that tries it again. 2: wrong arguments.`

/**
 * Reads the command line; `undefined` when help is asked for.
 * @throws RangeError that says what is wrong
 */
export function fuzzArguments(
  args: readonly string[],
  known: readonly string[],
  randomSeed: () => number,
): FuzzArguments | undefined {
  const { help, path, target = known, ...values } = parse(args)
  if (help === true) return undefined
  const unknown = target.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new RangeError(`--target must be one of ${known.join(', ')}; it is "${unknown}".`)
  }
  if (path !== undefined && !/^\d+(:\d+)*$/.test(path)) {
    throw new RangeError(
      `--path must be numbers with colons, as a finding shows it; it is "${path}".`,
    )
  }
  if (path !== undefined && (target.length !== 1 || values.seed === undefined)) {
    throw new RangeError('--path needs the --seed and the one --target of the finding.')
  }
  const runs = wholeNumber('runs', values.runs ?? '100000', [1, 1e9])
  const seed = wholeNumber('seed', values.seed ?? `${randomSeed()}`, [0, 2 ** 31 - 1])
  return { runs, seed, targets: target, path }
}

function parse(args: readonly string[]) {
  const option = { type: 'string' } as const
  const options = {
    ...{ runs: option, seed: option, path: option },
    target: { type: 'string', multiple: true },
    help: { type: 'boolean', short: 'h' },
  } as const
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (cause) {
    throw new RangeError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

function wholeNumber(flag: string, text: string, [least, most]: readonly [number, number]): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= least && value <= most) return value
  throw new RangeError(
    `--${flag} must be a whole number from ${least} to ${most}; it is "${text}".`,
  )
}

/** Words in lines of the help. */
function wrapped(words: readonly string[]): string {
  return words.join(', ').replace(/(.{60,90}?, )/g, '$1\n              ')
}
