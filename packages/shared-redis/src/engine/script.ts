import { createHash } from 'node:crypto'
import { requireText } from '@holdfast/core'
import { answerKind } from './engine-errors.ts'
import type { Session } from './session.ts'

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

/** Runs a script on the server that has the first of `keys`. Sends its source only where the server does not know it yet. */
export async function evaluate(
  session: Session,
  { source, sha1 }: Script,
  keys: readonly string[],
  args: readonly (string | number)[] = [],
): Promise<unknown> {
  const rest = [String(keys.length), ...keys, ...args.map(String)]
  try {
    return await session.send(keys[0], ['EVALSHA', sha1, ...rest])
  } catch (error) {
    if (answerKind(error) !== 'NOSCRIPT') throw error
    return session.send(keys[0], ['EVAL', source, ...rest])
  }
}
