import { hash, createHash } from 'node:crypto'
import { SetupError, requireText } from '@holdfast/core'
import { answerKind } from './engine-errors.ts'
import type { Session } from './session.ts'

/**
 * 43 characters that stand for `text` in the name of a key: it may be long, have any character, and be an address or a name that
 * the engine need not know. Equal texts only have equal digests; in UTF-8, all lone surrogates would be one character.
 */
export function keyDigest(text: string): string {
  return hash('sha256', Buffer.from(text, 'utf16le'), 'base64url')
}

/** The form of all keys below the prefix. Another number means that servers of different versions do not understand each other's. */
export const keyFormat = 'holdfast 1'

/**
 * Marks the prefix as ours for a week, and returns whose it is. It expires, so that nothing of holdfast stays in an engine for ever, but
 * later than any other key: each heartbeat renews it.
 */
export const formatScript = script(`
local found = redis.pcall('GET', KEYS[1])
if type(found) == 'table' then return 'another type of value' end
if not found then
  redis.call('SET', KEYS[1], ARGV[1], 'EX', 604800)
  return ARGV[1]
end
if found == ARGV[1] then redis.call('EXPIRE', KEYS[1], 604800) end
return found
`)

/**
 * Refuses keys that are not ours.
 *
 * @throws SetupError unless `found`, what {@link formatScript} has returned, is our format
 */
export function checkFormat(found: unknown, key: string, prefix: string): void {
  if (found === keyFormat) return
  const whose = /^holdfast \d+$/.test(String(found))
    ? 'another version of holdfast'
    : 'another program'
  throw new SetupError(
    `The keys "${prefix}:…" in the engine are those of ${whose}: ${key} is ${JSON.stringify(String(found).slice(0, 50))}, not "${keyFormat}"`,
    ['Choose another prefix by --shared-prefix, or another database in the URL'],
  )
}

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
