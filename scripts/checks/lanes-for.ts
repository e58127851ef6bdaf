import { availableParallelism } from 'node:os'

/**
 * How many test files run at a time: what `--jobs N` or `--jobs=N` among the arguments of `scripts/test` says, or else
 * one more than there are processors, since tests wait a good deal; and the other arguments.
 */
export function lanesFor(args: readonly string[]): { lanes: number; args: readonly string[] } {
  const at = args.findIndex((arg) => /^--jobs(=|$)/.test(arg))
  if (at < 0) return { lanes: availableParallelism() + 1, args }
  const [, attached] = (args[at] ?? '').split('=')
  const lanes = Number(attached ?? args[at + 1])
  if (!Number.isInteger(lanes) || lanes < 1) throw new Error('--jobs wants a number, 1 or more')
  return { lanes, args: args.toSpliced(at, attached === undefined ? 2 : 1) }
}
