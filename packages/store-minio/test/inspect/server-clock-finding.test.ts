import { expect } from 'chai'
import { serverClockFinding } from '../../src/inspect/inspect-bucket.ts'

describe('serverClockFinding', () => {
  const now = Date.parse('2026-11-21T12:00:00Z')

  it('forgives a minute', () => {
    const { mark, message } = serverClockFinding('Sat, 21 Nov 2026 12:00:59 GMT', now)
    expect([mark, message]).to.deep.equal(['ok', 'at most 59 s from that of the server'])
  })

  it('says when the server does not report it', () => {
    for (const date of [null, '', 'soon']) {
      expect(serverClockFinding(date, now).mark).to.equal('skipped')
    }
  })

  it('calls what the server refuses a problem', () => {
    expect(serverClockFinding('Sat, 21 Nov 2026 12:14:00 GMT', now).mark).to.equal('warning')
    expect(serverClockFinding('Sat, 21 Nov 2026 12:16:00 GMT', now).mark).to.equal('problem')
  })
})
