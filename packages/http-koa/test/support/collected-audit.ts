import type { Audit, AuditEvent } from '../../src/guards/audit.ts'

/** An event without what is another in each run. */
export type StableEvent = Omit<AuditEvent, 'time' | 'requestId'>

/** An audit trail that can be read. */
export interface CollectedAudit {
  readonly audit: Audit
  readonly events: readonly AuditEvent[]
  /** The events so far, without what is another in each run. */
  stable(): readonly StableEvent[]
}

export function collectAudit(): CollectedAudit {
  const events: AuditEvent[] = []
  return {
    audit: async (event) => void events.push(event),
    events,
    stable: () => events.map(({ time: _time, requestId: _requestId, ...event }) => event),
  }
}

/** The event of something that the one customer did well; `differences` say what was otherwise. */
export function event(differences: Partial<StableEvent>): StableEvent {
  return {
    event: 'upload',
    outcome: 'ok',
    reason: undefined,
    customer: 'demo',
    file: undefined,
    bytes: undefined,
    address: '127.0.0.1',
    ...differences,
  }
}
