import type { AuditEvent } from '@holdfast/http-koa'

/** Why events have no line: too many refused logins or refused uses of links, or the trail could not be written. */
export type OmissionReason = 'too-many' | 'unwritable'

/** One line of the trail; the order of the fields is part of the format in docs/audit.md. */
export function formatEvent(event: AuditEvent): string {
  return asLine({
    time: event.time.toISOString(),
    event: event.event,
    outcome: event.outcome,
    reason: event.reason ?? null,
    customer: event.customer ?? null,
    ...(event.login !== undefined && { login: event.login }),
    file: event.file ?? null,
    ...(event.to !== undefined && { to: event.to }),
    bytes: event.bytes ?? null,
    ...(event.versions !== undefined && { versions: event.versions }),
    requestId: event.requestId ?? null,
    address: event.address ?? null,
    ...(event.isByLink && { link: true }),
  })
}

/** The line that stands for `count` events without a line of their own. */
export function formatOmission(time: Date, reason: OmissionReason, count: number): string {
  return asLine({ time: time.toISOString(), event: 'omitted', reason, count })
}

/**
 * Characters that JSON does not escape, but that can end a line for some readers, control a terminal, or reverse text: control and
 * format characters, line and paragraph separators.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

function asLine(fields: object): string {
  return `${JSON.stringify(fields).replace(unseen, escape)}\n`
}

function escape(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
