import { hash } from 'node:crypto'

/**
 * 43 characters that stand for `text` in the name of a key: it may be long, have any character, and be an address or a name that
 * the engine need not know. Equal texts only have equal digests; in UTF-8, all lone surrogates would be one character.
 */
export function keyDigest(text: string): string {
  return hash('sha256', Buffer.from(text, 'utf16le'), 'base64url')
}
