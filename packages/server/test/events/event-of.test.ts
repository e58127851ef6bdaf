import type { AuditEvent } from '@holdfast/http-koa'
import { expect } from 'chai'
import { formatEvent, formatOmission } from '../../src/audit/open-trail-file.ts'
import { eventOf, eventOfLoss, idOfLine, timeOfLine } from '../../src/events/event-of.ts'

const source = 'urn:uuid:1'
const time = new Date('2026-11-21T02:45:56.007Z')
const change: AuditEvent = {
  time,
  event: 'upload',
  outcome: 'ok',
  reason: undefined,
  customer: 'alice',
  file: 'a\u2028 "b".txt',
  bytes: 3,
  requestId: 'r',
  address: '203.0.113.9',
}

/** The event of an audit event, without the fields that are always the same. */
function toldOf(event: AuditEvent) {
  const outgoing = eventOf({ id: 'x', text: formatEvent(event).trimEnd() }, source)
  if (outgoing === undefined) return undefined
  const { specversion, datacontenttype, ...others } = JSON.parse(outgoing.body) as Record<
    string,
    unknown
  >
  expect([specversion, datacontenttype]).to.deep.equal(['1.0', 'application/json'])
  return others
}

describe('eventOf', () => {
  it('makes a CloudEvent of an upload, with the fields of its line as data', () => {
    expect(toldOf({ ...change, isByLink: true })).to.deep.equal({
      id: 'x',
      source,
      type: 'holdfast.upload',
      subject: `alice/${change.file}`,
      time: time.toISOString(),
      data: {
        customer: 'alice',
        file: change.file,
        bytes: 3,
        requestId: 'r',
        address: '203.0.113.9',
        link: true,
      },
    })
  })

  it('makes one of a deletion, a rename and a restore with the new name, an expiry, and of the end of all links', () => {
    expect(toldOf({ ...change, event: 'expire' })).to.have.property('type', 'holdfast.expire')
    expect(toldOf({ ...change, event: 'delete' })).to.have.property('type', 'holdfast.delete')
    const renamed = toldOf({ ...change, event: 'rename', to: 'c.txt' })
    expect(renamed).to.have.property('type', 'holdfast.rename')
    expect(renamed).to.have.nested.property('data.to', 'c.txt')
    const restored = toldOf({ ...change, event: 'restore', to: 'c.txt' })
    expect(restored).to.have.property('type', 'holdfast.restore')
    expect(restored).to.have.nested.property('data.to', 'c.txt')
    const ended = toldOf({ ...change, event: 'revoke-links', file: undefined })
    expect(ended).to.include({ type: 'holdfast.revoke-links', subject: 'alice' })
  })

  it('names the further login that made the change', () => {
    expect(toldOf({ ...change, login: 'ci' })).to.have.nested.property('data.login', 'ci')
    expect(toldOf(change)).to.not.have.nested.property('data.login')
  })

  it('makes none of what changed nothing', () => {
    for (const event of ['link', 'upload-link', 'download', 'login'] as const) {
      expect(toldOf({ ...change, event }), event).to.equal(undefined)
    }
    for (const outcome of ['refused', 'failed', 'aborted'] as const) {
      expect(toldOf({ ...change, outcome }), outcome).to.equal(undefined)
    }
  })

  it('makes one of lines that could not be written, and none of refusals without a line', () => {
    const omitted = (reason: 'unwritable' | 'too-many') =>
      eventOf({ id: 'x', text: formatOmission(time, reason, 12) }, source)
    expect(JSON.parse(omitted('unwritable')?.body ?? '')).to.deep.include({
      type: 'holdfast.omitted',
      data: { reason: 'unwritable', count: 12 },
    })
    expect(omitted('too-many')).to.equal(undefined)
  })

  it('makes for a customer those of the customer only, and says of lost lines only that there were some', () => {
    const of = (customer: string, text: string) => eventOf({ id: 'x', text }, source, customer)
    expect(of('alice', formatEvent(change))?.body).to.include('"subject":"alice')
    expect(of('bob', formatEvent(change))).to.equal(undefined)
    const lost = of('bob', formatOmission(time, 'unwritable', 12))
    expect(JSON.parse(lost?.body ?? '')).to.deep.include({
      type: 'holdfast.omitted',
      data: { reason: 'unwritable', count: null },
    })
  })

  it('finds the line behind one that was cut off, and ignores what is none', () => {
    const whole = formatEvent({ ...change, file: '{"time":"x"' }).trimEnd()
    const torn = eventOf({ id: 'x', text: `${whole.slice(0, 60)}${whole}` }, source)
    expect(torn?.body).to.include('alice')
    expect(torn?.timeMs).to.equal(time.getTime())
    for (const text of ['', '{', 'null', '"a"', whole.slice(0, -1), '[]']) {
      expect(eventOf({ id: 'x', text }, source), text).to.equal(undefined)
    }
  })
})

describe('eventOfLoss', () => {
  it('has another id when it says something else, and the same when not', () => {
    const loss = { count: 1, since: '2026-11-21T00:00:00.000Z', until: '2026-11-22T00:00:00.000Z' }
    const { id, body } = eventOfLoss('expired', loss, source)
    expect(eventOfLoss('expired', { ...loss }, source).id).to.equal(id)
    expect(eventOfLoss('expired', { ...loss, count: 2 }, source).id).not.to.equal(id)
    expect(JSON.parse(body)).to.deep.include({
      type: 'holdfast.omitted',
      time: loss.until,
      data: { reason: 'expired', ...loss },
    })
  })
})

describe('idOfLine', () => {
  it('differs for equal lines at different places, and never has a dot', () => {
    const ids = new Set([idOfLine(0, 'a'), idOfLine(1, 'a'), idOfLine(0, 'b')])
    expect(ids.size).to.equal(3)
    for (const id of ids) expect(id).to.match(/^[\w-]{24}$/)
  })
})

describe('timeOfLine', () => {
  it('reads the time of a line, also of one that is not whole', () => {
    const text = formatEvent(change)
    expect(timeOfLine(text.slice(0, 64))).to.equal(time.toISOString())
    expect(timeOfLine('{"id":1}')).to.equal(undefined)
  })
})
