import { SetupError } from '@holdfast/core'

/** Where yargs puts a name. */
export interface NameArgument {
  readonly name?: string | undefined
  /** The words after `--`, which yargs does not take as positionals. */
  readonly '--'?: readonly string[]
}

/**
 * The one name that was given, before or after `--`, if there was one.
 *
 * @throws SetupError if there are two
 */
export function onlyName({ name, '--': rest = [] }: NameArgument): string | undefined {
  const [first, second] = name === undefined ? rest : [name, ...rest]
  if (second === undefined) return first
  throw new SetupError(`One name at a time: what is "${second}"? Put a name with spaces in quotes.`)
}
