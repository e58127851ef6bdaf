import { stat } from 'node:fs/promises'
import { lookup } from 'node:dns/promises'
import { type Advice, advice, adviceOf, SetupError } from '@holdfast/core'
import { parseWebhookSecrets, type CustomerWebhook } from '@holdfast/credentials-file/messages'
import type { Config } from '../config/resolve-config.ts'
import { secretVariables } from '../config/environment.ts'
import { isPublic } from './post-event.ts'

/** Where and how events are delivered. */
export interface WebhookSettings {
  /** The setting, as messages name it. */
  readonly setting: string
  readonly url: string
  /** The path of the audit trail, whose lines become events. */
  readonly trail: string
  readonly allowPrivate: boolean
  /** One or two. */
  readonly secrets: readonly string[]
}

const { value, file } = secretVariables('webhook-secret')
const howToGive = `set ${file} with the path of a file that holds it, or ${value}.`

/**
 * The settings of `--webhook`, with the secrets from the configuration's environment; `undefined` without it.
 *
 * @throws SetupError without an audit trail in a regular file, without a secret, and for plain HTTP beyond the own network
 */
export async function findWebhookSettings(config: Config): Promise<WebhookSettings | undefined> {
  const { webhook: url } = config
  if (url === undefined) return undefined
  const receiver = await checkReceiver(config, url, '--webhook')
  return { ...receiver, secrets: await readWebhookSecrets(config) }
}

/**
 * The settings of a customer's own webhook.
 *
 * @throws SetupError without an audit trail in a regular file, and for plain HTTP beyond the own network
 */
export async function customerWebhookSettings(
  config: Config,
  customer: string,
  { url, secrets }: CustomerWebhook,
): Promise<WebhookSettings> {
  const setting = `the webhook of ${JSON.stringify(customer)}`
  return { ...(await checkReceiver(config, url, setting)), secrets }
}

async function checkReceiver(config: Config, url: string, setting: string) {
  const { 'webhook-allow-private': allowPrivate } = config
  const trail = await requireTrail(config, setting)
  if (!allowPrivate && url.startsWith('http:')) {
    throw new SetupError(`The events of ${setting} would cross the network unencrypted`, [
      'write https:// in it, or give --webhook-allow-private if the receiver is in your own network.',
    ])
  }
  return { setting, url, trail, allowPrivate }
}

/** Why the receiver cannot be reached, as far as its address shows; `undefined` if it can. */
export async function receiverProblem({
  setting,
  url,
  allowPrivate,
}: Pick<WebhookSettings, 'setting' | 'url' | 'allowPrivate'>): Promise<Advice | undefined> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  const addresses = await lookup(host, { all: true }).catch(() => [])
  if (addresses.length === 0) {
    return advice(`The host ${host} of ${setting} is unknown`, 'correct it, or look at the DNS')
  }
  const hidden = allowPrivate ? undefined : addresses.find(({ address }) => !isPublic(address))
  if (hidden === undefined) return undefined
  return advice(
    `The host ${host} of ${setting} has the address ${hidden.address}, which is not public`,
    'give --webhook-allow-private if the receiver is in your own network',
  )
}

/**
 * The secrets by which the events of `--webhook` are signed.
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
  try {
    return parseWebhookSecrets(text)
  } catch (error) {
    const { problem, remedies } = adviceOf(error)
    throw new SetupError(`The secret of --webhook (${value}) ${problem}`, remedies)
  }
}

async function requireTrail({ 'audit-log': trail }: Config, setting: string): Promise<string> {
  const remedy = 'give --audit-log the path of a file.'
  if (trail === undefined) {
    throw new SetupError(`The events of ${setting} come from the audit trail, and there is none`, [
      remedy,
    ])
  }
  const stats = await stat(trail).catch(() => undefined)
  if (trail !== '-' && (stats === undefined || stats.isFile())) return trail
  throw new SetupError(
    `The events of ${setting} come from the audit trail, and ${trail} cannot be read again`,
    [remedy],
  )
}
