import type { AuditEvent } from '@holdfast/http-koa'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { createRefusalLimit } from '../../src/audit/open-audit-trail.ts'

const refusal = (reason: string, event: AuditEvent['event'] = 'login'): AuditEvent => ({
  time: new Date(),
  event,
  outcome: 'refused',
  reason,
  customer: undefined,
  file: undefined,
  bytes: undefined,
  requestId: undefined,
  address: undefined,
})

describe('createRefusalLimit', () => {
  const countAdmitted = (admit: (event: AuditEvent) => boolean, event: AuditEvent) =>
    Array.from({ length: 50 }, () => admit(event)).filter(Boolean).length

  it('bounds the refused logins that cost nothing, and refusals by links, of all kinds together, and says how many it left out', () => {
    const told: number[] = []
    const limit = createRefusalLimit({
      perWindow: 60,
      windowMs: 1e6,
      onOmitted: (count) => told.push(count),
    })
    expect(countAdmitted(limit.admit, refusal('missing-credentials'))).to.equal(50)
    expect(countAdmitted(limit.admit, refusal('too-many-attempts'))).to.equal(10)
    expect(countAdmitted(limit.admit, refusal('overloaded'))).to.equal(0)
    expect(countAdmitted(limit.admit, refusal('link-refused', 'download'))).to.equal(0)
    const byLink = { ...refusal('already-exists', 'upload'), isByLink: true }
    expect(countAdmitted(limit.admit, byLink)).to.equal(0)
    limit.flush()
    expect(told).to.deep.equal([190])
    expect(countAdmitted(limit.admit, refusal('overloaded'))).to.equal(50)
    limit.flush()
    expect(told).to.deep.equal([190])
  })

  it('spares wrong passwords, uploads and deletions', () => {
    const limit = createRefusalLimit({ perWindow: 0, windowMs: 1e6, onOmitted: () => {} })
    for (const event of [
      refusal('invalid-credentials'),
      refusal('not-found', 'delete'),
      refusal('overloaded', 'upload'),
      refusal('not-found', 'link'),
      { ...refusal('', 'download'), outcome: 'ok' as const },
    ]) {
      expect(countAdmitted(limit.admit, event), event.reason).to.equal(50)
    }
  })

  it('says by itself when the time is over, and begins anew', async () => {
    const told: number[] = []
    const limit = createRefusalLimit({
      perWindow: 1,
      windowMs: 5,
      onOmitted: (count) => told.push(count),
    })
    expect(countAdmitted(limit.admit, refusal('overloaded'))).to.equal(1)
    await until('it is told', () => told.length > 0)
    expect(told).to.deep.equal([49])
    expect(limit.admit(refusal('overloaded'))).to.equal(true)
  })
})
