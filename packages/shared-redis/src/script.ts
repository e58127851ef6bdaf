import { createHash } from 'node:crypto'

/** A Lua script that the engine runs as one step. */
export interface Script {
  readonly source: string
  /** Its SHA-1, by which the engine knows it. */
  readonly sha1: string
}

/** Makes a {@link Script}. */
export function script(source: string): Script {
  return { source, sha1: createHash('sha1').update(source).digest('hex') }
}
