import { setTimeout as delay } from 'node:timers/promises'
import { adviceOf, SetupError } from '@holdfast/core'
import type { Config } from '../config/resolve-config.ts'
import { parseTime } from '../config/parse-setting.ts'
import { readCursor } from './cursor.ts'
import { eventOf, timeOfLine, type OutgoingEvent } from './event-of.ts'
import { createEventPoster, type EventPoster } from './post-event.ts'
import { findTrailFiles, openTrailPart } from './trail-files.ts'
import { findWebhookSettings } from './webhook-settings.ts'

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
  { since, pausesMs = [1_000, 5_000, 25_000] }: ReplayOptions,
): Promise<Replay> {
  const begin = timeOf(since)
  const settings = await findWebhookSettings(config)
  if (settings === undefined) {
    throw new SetupError('No receiver of events is set', ['give --webhook as the server gets it.'])
  }
  const { trail, secrets } = settings
  const cursor = await readCursor(trail)
  if (cursor === undefined) {
    throw new SetupError(`Beside ${trail} there is no position of --webhook`, [
      'give the --audit-log that the server gets; start the server with --webhook once.',
    ])
  }
  const poster = createEventPoster({ ...settings, secrets: () => secrets })
  try {
    let accepted = 0
    for await (const event of eventsSince(trail, cursor.source, begin)) {
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

async function* eventsSince(
  trail: string,
  source: string,
  begin: number,
): AsyncGenerator<OutgoingEvent> {
  for (const { path } of await findTrailFiles(trail)) {
    const part = await openTrailPart(path)
    try {
      for (let line = await part.next(); line && line !== 'changed'; line = await part.next()) {
        if (line === 'began') continue
        if (Date.parse(timeOfLine(line.text) ?? '') < begin) continue
        const event = eventOf(line, source)
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
