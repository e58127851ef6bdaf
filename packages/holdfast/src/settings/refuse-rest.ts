import { UsageError } from '@holdfast/server/config'

/**
 * Refuses words behind `--`, for commands that take none: yargs does not count them.
 *
 * @throws UsageError that names the first
 */
export function refuseRest({ '--': rest = [] }: { readonly '--'?: readonly string[] }): void {
  const [stray] = rest
  if (stray !== undefined) throw new UsageError(`Nothing goes behind "--" here: "${stray}".`)
}
