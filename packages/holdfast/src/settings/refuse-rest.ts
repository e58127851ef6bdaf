import { SetupError } from '@holdfast/core'

/**
 * Refuses words behind `--`, for commands that take none: yargs does not count them.
 *
 * @throws SetupError that names the first
 */
export function refuseRest({ '--': rest = [] }: { readonly '--'?: readonly string[] }): void {
  const [stray] = rest
  if (stray !== undefined) throw new SetupError(`Nothing goes behind "--" here: "${stray}".`)
}
