import { hash } from 'node:crypto'
import { SetupError } from '@holdfast/core'
import { script } from './script.ts'

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
