import { SetupError } from '@holdfast/core'

/** Where yargs puts a name. */
export interface NameArgument {
  readonly name?: string | undefined
  /** Whatever stands behind `--`: yargs makes no positionals of it. */
  readonly '--'?: readonly string[]
}

/**
 * The one name that was given, before `--` or behind it, if there was one.
 *
 * @throws SetupError if there are two
 */
export function onlyName({ name, '--': rest = [] }: NameArgument): string | undefined {
  const [first, second] = name === undefined ? rest : [name, ...rest]
  if (second === undefined) return first
  throw new SetupError(`One name at a time: what is "${second}"? Put a name with spaces in quotes.`)
}
