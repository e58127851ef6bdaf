import { setTimeout as delay } from 'node:timers/promises'
import { adviceOf, SetupError } from '@holdfast/core'
import type { Config } from '../config/resolve-config.ts'
import { parseTime } from '../config/parse-setting.ts'
import { readCursor } from './cursor.ts'
import { eventOf, timeOfLine, type OutgoingEvent } from './event-of.ts'
import { createEventPoster, type EventPoster } from './post-event.ts'
import { findTrailFiles, openTrailPart } from './trail-files.ts'
import { customerCursorFile, serverCursorFile } from './open-webhooks.ts'
import { customerWebhookSettings, findWebhookSettings } from './webhook-settings.ts'

/** The result of {@link replayEvents}. */
export interface Replay {
  /** How many events were accepted. */
  readonly accepted: number
  /** Why the next one was not; `undefined` if all were. */
  readonly problem?: string
  /** The time of that one. */
  readonly stoppedAt?: string
}

export interface ReplayOptions {
  /** Only changes from this time on: a time in ISO 8601, or a period before now such as `3d`. */
  readonly since: string
  /** Sends only the changes of this customer, and to the customer's own receiver. Default: those of all, to `--webhook`. */
  readonly customer?: string
  /** How long to wait before each retry of an event, in milliseconds. Default: 1, 5 and 25 seconds. */
  readonly pausesMs?: readonly number[]
}

/**
 * Sends the events of the audit trail once more, in order, with the ids that they had: a receiver takes those that it has for
 * duplicates. It reads the trail and the uncompressed files beside it, and may run while the server does.
 *
 * @throws SetupError for wrong settings or a wrong time, and if the server has never delivered events of this trail
 */
export async function replayEvents(
  config: Config,
  { since, customer, pausesMs = [1_000, 5_000, 25_000] }: ReplayOptions,
): Promise<Replay> {
  const begin = timeOf(since)
  const settings = await settingsOf(config, customer)
  const { setting, trail, secrets } = settings
  const cursor = await readCursor(
    customer === undefined ? serverCursorFile(trail) : customerCursorFile(trail, customer),
  )
  if (cursor === undefined) {
    throw new SetupError(`Beside ${trail} there is no position of ${setting}`, [
      'give the --audit-log that the server gets; start the server with this receiver once.',
    ])
  }
  const poster = createEventPoster({ ...settings, secrets: () => secrets })
  try {
    let accepted = 0
    for await (const event of eventsSince({ trail, source: cursor.source, begin, customer })) {
      const problem = await postWithRetries(poster, event, pausesMs)
      if (problem !== undefined) {
        const stoppedAt = new Date(event.timeMs ?? begin).toISOString()
        return { accepted, problem, stoppedAt }
      }
      accepted++
    }
    return { accepted }
  } finally {
    poster.close()
  }
}

function timeOf(since: string): number {
  try {
    return parseTime(since)
  } catch (error) {
    const { problem, remedies } = adviceOf(error)
    throw new SetupError(`--since "${since}" ${problem}`, remedies)
  }
}

async function settingsOf(config: Config, customer: string | undefined) {
  if (customer === undefined) {
    const settings = await findWebhookSettings(config)
    if (settings) return settings
    throw new SetupError('No receiver of events is set', [
      'give --webhook as the server gets it, or --customer with the name of one who has a webhook.',
    ])
  }
  const { openFileCredentialSource } = await import('@holdfast/credentials-file')
  const source = await openFileCredentialSource(config.customers, { pollIntervalMs: 0 })
  const webhook = source.webhooks().get(customer)
  await source.close()
  if (webhook) return customerWebhookSettings(config, customer, webhook)
  throw new SetupError(`${config.customers} has no webhook of a customer "${customer}"`, [
    'give the --customers that the server gets, and look for the name.',
  ])
}

interface EventsWanted {
  readonly trail: string
  readonly source: string
  /** From this time on, in milliseconds since 1970. */
  readonly begin: number
  readonly customer: string | undefined
}

async function* eventsSince({
  trail,
  source,
  begin,
  customer,
}: EventsWanted): AsyncGenerator<OutgoingEvent> {
  for (const { path } of await findTrailFiles(trail)) {
    const part = await openTrailPart(path)
    try {
      for (let line = await part.next(); line && line !== 'changed'; line = await part.next()) {
        if (line === 'began') continue
        if (Date.parse(timeOfLine(line.text) ?? '') < begin) continue
        const event = eventOf(line, source, customer)
        if (event) yield event
      }
    } finally {
      await part.close()
    }
  }
}

/** Why the event was not accepted; `undefined` if it was. */
async function postWithRetries(
  poster: EventPoster,
  event: OutgoingEvent,
  pausesMs: readonly number[],
): Promise<string | undefined> {
  let problem: string | undefined
  for (const pauseMs of [0, ...pausesMs]) {
    await delay(pauseMs)
    const result = await poster.post(event)
    if (result.outcome === 'accepted') return undefined
    if (result.outcome === 'gone') return 'status 410'
    problem = result.reason
  }
  return problem
}
