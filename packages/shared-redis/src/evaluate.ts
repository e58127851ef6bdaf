import { answerKind } from './engine-errors.ts'
import type { Script } from './script.ts'
import type { Session } from './session.ts'

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
