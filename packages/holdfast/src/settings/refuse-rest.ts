import { SetupError } from '@holdfast/core'

/**
 * Refuses words after `--`, for commands that take none. Yargs does not check them.
 *
 * @throws SetupError that names the first
 */
export function refuseRest({ '--': rest = [] }: { readonly '--'?: readonly string[] }): void {
  const [stray] = rest
  if (stray !== undefined) throw new SetupError(`Nothing goes behind "--" here: "${stray}".`)
}
