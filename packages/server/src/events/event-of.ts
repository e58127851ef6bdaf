import { createHash } from 'node:crypto'

/** A complete line of the audit trail, without the line break. */
export interface TrailLine {
  /** The same whenever the line is read, also after its file was renamed or copied. */
  readonly id: string
  readonly text: string
}

/** An event, ready to be sent. */
export interface OutgoingEvent {
  readonly id: string
  /** When the change was made; `undefined` if the line does not say it. In milliseconds since 1970. */
  readonly timeMs: number | undefined
  /** A CloudEvent 1.0 in JSON. */
  readonly body: string
}

/**
 * Why changes have no event of their own. `rotated-away`: their lines were removed or overwritten before they were read. `expired`:
 * the receiver did not accept them for three days.
 */
export type LossReason = 'rotated-away' | 'expired'

/** Changes without an event of their own. */
export interface Loss {
  /** How many; `null` if that is unknown, possibly none. */
  readonly count: number | null
  /** All were made between these times, in ISO 8601. */
  readonly since: string
  readonly until: string
}

/** What an event says of each change; the other fields of a line become attributes of the event. */
const dataFields = [
  'customer',
  'login',
  'file',
  'to',
  'bytes',
  'requestId',
  'address',
  'link',
] as const

const changes: ReadonlySet<unknown> = new Set([
  'upload',
  'delete',
  'rename',
  'restore',
  'expire',
  'revoke-links',
])

/** Identifies the line `text` that begins at byte `offset` of its file: 24 letters, digits, `-` and `_`. */
export function idOfLine(offset: number, text: string): string {
  return idOf(`${offset}:${text}`)
}

/**
 * The event for a line of the audit trail: a change that was made, or the number of lines that could not be written. `undefined` for
 * all other lines. `source` identifies the trail. With `customer`, only changes of that customer have an event; how many lines could not
 * be written is unknown then, since they may be of others.
 */
export function eventOf(
  { id, text }: TrailLine,
  source: string,
  customer?: string,
): OutgoingEvent | undefined {
  const line = parseLine(text)
  if (line === undefined) return undefined
  const { event, outcome, reason } = line
  if (event === 'omitted' && reason === 'unwritable') {
    const count = customer === undefined ? line['count'] : null
    return cloudEvent({ id, source, line, data: { reason, count } })
  }
  if (customer !== undefined && line['customer'] !== customer) return undefined
  if (outcome !== 'ok' || !changes.has(event)) return undefined
  const data = Object.fromEntries(
    dataFields.filter((field) => field in line).map((field) => [field, line[field]]),
  )
  return cloudEvent({ id, source, line, data, subject: subjectOf(line) })
}

/** The event for changes without one. Its id changes with what it says: a receiver may have got an earlier one. */
export function eventOfLoss(reason: LossReason, loss: Loss, source: string): OutgoingEvent {
  const { count, since, until } = loss
  const id = idOf(`${reason}:${count}:${since}:${until}`)
  const line = { event: 'omitted', time: until }
  return cloudEvent({ id, source, line, data: { reason, count, since, until } })
}

/** When the line was written, as it says; `undefined` if it does not. */
export function timeOfLine(text: string): string | undefined {
  return /^\{"time":"([^"\\]{1,40})"/.exec(text)?.[1]
}

type Line = Readonly<Record<string, unknown>>

/** A crash may cut off a line. The next one may then follow without a line break, and only that one counts. */
function parseLine(text: string): Line | undefined {
  return parseObject(text) ?? parseObject(text.slice(text.lastIndexOf('{"time":')))
}

function parseObject(text: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Line) : undefined
  } catch {
    return undefined
  }
}

function subjectOf({ customer, file }: Line): string | undefined {
  if (typeof customer !== 'string') return undefined
  return typeof file === 'string' ? `${customer}/${file}` : customer
}

interface EventParts {
  readonly id: string
  readonly source: string
  readonly line: Line
  readonly data: object
  readonly subject?: string | undefined
}

function cloudEvent({ id, source, line, data, subject }: EventParts): OutgoingEvent {
  const time = String(line['time'])
  const timeMs = Date.parse(time)
  const isTime = !Number.isNaN(timeMs)
  const body = JSON.stringify({
    specversion: '1.0',
    id,
    source,
    type: `holdfast.${String(line['event'])}`,
    ...(subject !== undefined && { subject }),
    ...(isTime && { time }),
    datacontenttype: 'application/json',
    data,
  })
  return { id, timeMs: isTime ? timeMs : undefined, body }
}

function idOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 24)
}
