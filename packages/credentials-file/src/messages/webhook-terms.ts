import { advice, rangeErrorOf } from '@holdfast/core'

/** The receiver of a customer's own events. */
export interface CustomerWebhook {
  readonly url: string
  /** One secret of Standard Webhooks by which events are signed, or two while it is changed. */
  readonly secrets: readonly string[]
}

/**
 * The URL of a receiver of events, as it is requested.
 *
 * @throws RangeError with its remedy (see `adviceOf`) for anything but `http:` or `https:`, and for a name, a password or a fragment
 */
export function parseReceiver(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (isHttp && url.hash === '' && url.username === '' && url.password === '') return url.href
  throw rangeErrorOf(
    advice(
      'is not the URL of a receiver',
      'write https://host/path, without a name, a password and a #',
    ),
  )
}

/** How many bytes a key must have, by Standard Webhooks. */
const keySizes = { least: 24, most: 64 }

/**
 * The secrets in a text: one, or two with a space between.
 *
 * @throws RangeError with its remedy (see `adviceOf`), and never with the text, for what is not as Standard Webhooks has it
 */
export function parseWebhookSecrets(text: string): readonly string[] {
  const secrets = text.trim().split(/ +/)
  if (secrets.length <= 2 && secrets.every(isSecret)) return secrets
  throw rangeErrorOf(
    advice(
      'is not one',
      `write whsec_ and ${keySizes.least} to ${keySizes.most} random bytes in Base64; two of them, with a space between, while one is changed.`,
    ),
  )
}

function isSecret(text: string): boolean {
  const [, encoded] = /^whsec_(.+)$/.exec(text) ?? []
  if (encoded === undefined) return false
  const key = Buffer.from(encoded, 'base64')
  return (
    key.length >= keySizes.least &&
    key.length <= keySizes.most &&
    key.toString('base64') === encoded
  )
}
