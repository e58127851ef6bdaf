import { parseArgs } from 'node:util'
import {
  fileSystems,
  type FileSystem,
} from '../../packages/system-tests/test/power-cut/file-systems.ts'

/** What `scripts/powercut` is to do. */
export interface PowercutArguments {
  readonly cuts: number
  readonly seed: number
  /** On which the power is cut in turn. */
  readonly fileSystems: readonly FileSystem[]
  /** Whether the server keeps what is replaced or deleted. */
  readonly keepsReplaced: boolean
}

/** The text of `scripts/powercut --help`. */
export const powercutHelp = `scripts/powercut [--cuts N] [--seed S] [--file-system ext4|xfs|btrfs] [--keep]

Has clients upload, replace and delete files on a real server, whose data directory is on a disk that forgets what was not
flushed when its power is cut: all of it, or any part. The power is cut at a random moment. Then the file system is mounted,
which repairs it by its journal, and examined by its own program; the server is started, and every name must hold what was
acknowledged last, or what the operation under way made of it. Nothing may be left of uploads; every fourth time holdfast
doctor has its say.

  --cuts N            how often. Default: 16
  --seed S            what all choices follow from, a whole number; default: a random one. How requests and the cut fall
                      together is the machine's affair.
  --file-system NAME  ext4, xfs or btrfs. Default: each in turn
  --keep              the server keeps what is replaced or deleted, and everything that was ever acknowledged must be there

Needs root, or sudo without a password, FUSE (/dev/fuse), loop devices, and the programs that make and check these file
systems. Progress is on standard error, what was done on standard output. Exit code 0: nothing was lost. 1: something was; it
is listed with the seed. 2: wrong arguments.`

/**
 * Reads the command line; `undefined` when help is asked for.
 * @throws RangeError that says what is wrong
 */
export function powercutArguments(
  args: readonly string[],
  randomSeed: () => number,
): PowercutArguments | undefined {
  const { values } = parse(args)
  if (values.help === true) return undefined
  return {
    cuts: number('cuts', values.cuts ?? '16', [1, 1_000_000]),
    seed: number('seed', values.seed ?? `${randomSeed()}`, [0, 2 ** 31]),
    fileSystems: chosen(values['file-system']),
    keepsReplaced: values.keep === true,
  }
}

function parse(args: readonly string[]) {
  const option = { type: 'string' } as const
  const options = {
    ...{ cuts: option, seed: option, 'file-system': option },
    keep: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const
  try {
    return parseArgs({ args: [...args], options })
  } catch (cause) {
    throw new RangeError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

function chosen(name: string | undefined): readonly FileSystem[] {
  if (name === undefined) return fileSystems
  const found = fileSystems.filter((fileSystem) => fileSystem === name)
  if (found.length > 0) return found
  throw new RangeError(`--file-system must be one of ${fileSystems.join(', ')}; it is "${name}".`)
}

function number(flag: string, text: string, [least, most]: readonly [number, number]): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= least && value <= most) return value
  throw new RangeError(
    `--${flag} must be a whole number from ${least} to ${most}; it is "${text}".`,
  )
}
