import { stat } from 'node:fs/promises'
import { lookup } from 'node:dns/promises'
import { type Advice, advice, SetupError } from '@holdfast/core'
import type { Config } from '../config/resolve-config.ts'
import { secretVariables } from '../config/secrets.ts'
import { isPublic } from './post-event.ts'

/** Where and how events are delivered. */
export interface WebhookSettings {
  readonly url: string
  /** The path of the audit trail, whose lines become events. */
  readonly trail: string
  readonly allowPrivate: boolean
  /** One or two. */
  readonly secrets: readonly string[]
}

const { value, file } = secretVariables('webhook-secret')
const howToGive = `set ${file} with the path of a file that holds it, or ${value}.`

/** How many bytes a key must have, by Standard Webhooks. */
const keySizes = { least: 24, most: 64 }

/**
 * The settings of `--webhook`, with the secrets from the configuration's environment; `undefined` without it.
 *
 * @throws SetupError without an audit trail in a regular file, without a secret, and for plain HTTP beyond the own network
 */
export async function findWebhookSettings(config: Config): Promise<WebhookSettings | undefined> {
  const { webhook: url, 'webhook-allow-private': allowPrivate } = config
  if (url === undefined) return undefined
  const trail = await requireTrail(config)
  if (!allowPrivate && url.startsWith('http:')) {
    throw new SetupError('The events of --webhook would cross the network unencrypted', [
      'write https:// in it, or give --webhook-allow-private if the receiver is in your own network.',
    ])
  }
  return { url, trail, allowPrivate, secrets: await readWebhookSecrets(config) }
}

/** Why the receiver cannot be reached, as far as its address shows; `undefined` if it can. */
export async function receiverProblem({
  url,
  allowPrivate,
}: Pick<WebhookSettings, 'url' | 'allowPrivate'>): Promise<Advice | undefined> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  const addresses = await lookup(host, { all: true }).catch(() => [])
  if (addresses.length === 0) {
    return advice(`The host ${host} of --webhook is unknown`, 'correct it, or look at the DNS')
  }
  const hidden = allowPrivate ? undefined : addresses.find(({ address }) => !isPublic(address))
  if (hidden === undefined) return undefined
  return advice(
    `The host ${host} of --webhook has the address ${hidden.address}, which is not public`,
    'give --webhook-allow-private if the receiver is in your own network',
  )
}

/**
 * The secrets by which events are signed.
 *
 * @throws SetupError if there is none, or one is not as Standard Webhooks has it; never with its text
 */
export async function readWebhookSecrets({
  readSecret,
}: Pick<Config, 'readSecret'>): Promise<readonly string[]> {
  const text = await readSecret('webhook-secret')
  if (text === undefined) {
    throw new SetupError('The events of --webhook have no secret to be signed with', [howToGive])
  }
  const secrets = text.trim().split(/ +/)
  if (secrets.length <= 2 && secrets.every(isSecret)) return secrets
  throw new SetupError(`The secret of --webhook (${value}) is not one`, [
    `write whsec_ and ${keySizes.least} to ${keySizes.most} random bytes in Base64; two of them, with a space between, while one is changed.`,
  ])
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

async function requireTrail({ 'audit-log': trail }: Config): Promise<string> {
  const remedy = 'give --audit-log the path of a file.'
  if (trail === undefined) {
    throw new SetupError('The events of --webhook come from the audit trail, and there is none', [
      remedy,
    ])
  }
  const stats = await stat(trail).catch(() => undefined)
  if (trail !== '-' && (stats === undefined || stats.isFile())) return trail
  throw new SetupError(
    `The events of --webhook come from the audit trail, and ${trail} cannot be read again`,
    [remedy],
  )
}
