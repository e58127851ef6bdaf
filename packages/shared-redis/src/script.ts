import { createHash } from 'node:crypto'
import { requireText } from '@holdfast/core'

/** A Lua script that the engine runs as one step. */
export interface Script {
  readonly source: string
  /** Its SHA-1, by which the engine knows it. */
  readonly sha1: string
}

/**
 * Makes a {@link Script}.
 *
 * @throws TypeError if the source is not a string
 */
export function script(source: string): Script {
  requireText('source', source)
  return { source, sha1: createHash('sha1').update(source).digest('hex') }
}
