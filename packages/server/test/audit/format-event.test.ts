import type { AuditEvent } from '@holdfast/http-koa'
import { expect } from 'chai'
import { formatEvent, formatOmission } from '../../src/audit/format-event.ts'

const event: AuditEvent = {
  time: new Date(Date.UTC(2026, 10, 21, 2, 45, 56, 7)),
  event: 'upload',
  outcome: 'ok',
  reason: undefined,
  customer: 'alice',
  file: 'a.txt',
  bytes: 0,
  requestId: 'r1',
  address: '::1',
}

describe('formatEvent', () => {
  it('has all fields in the documented order', () => {
    expect(formatEvent(event)).to.equal(
      '{"time":"2026-11-21T02:45:56.007Z","event":"upload","outcome":"ok","reason":null,"customer":"alice",' +
        '"file":"a.txt","bytes":0,"requestId":"r1","address":"::1"}\n',
    )
  })

  it('marks what was done by a link', () => {
    expect(formatEvent({ ...event, isByLink: true })).to.match(/"address":"::1","link":true\}\n$/u)
    expect(formatEvent({ ...event, isByLink: false })).to.equal(formatEvent(event))
  })

  it('has the new name after the earlier one', () => {
    const renamed = { ...event, event: 'rename', bytes: undefined, to: 'b\u202e.txt' } as const
    expect(formatEvent(renamed)).to.include('"file":"a.txt","to":"b\\u202e.txt","bytes":null')
  })

  it('has the number of versions that were removed before their time', () => {
    const purged = { ...event, event: 'purge', file: undefined, bytes: 9, versions: 2 } as const
    expect(formatEvent(purged)).to.include('"file":null,"bytes":9,"versions":2,"requestId"')
  })

  it('says null where something is not known', () => {
    const { reason: _, ...unknown } = event
    const nothing = { customer: undefined, file: undefined, bytes: undefined, address: undefined }
    const line = formatEvent({ ...unknown, ...nothing, reason: undefined, requestId: undefined })
    expect(JSON.parse(line)).to.deep.equal({
      time: '2026-11-21T02:45:56.007Z',
      event: 'upload',
      outcome: 'ok',
      reason: null,
      customer: null,
      file: null,
      bytes: null,
      requestId: null,
      address: null,
    })
  })

  for (const [title, name] of [
    ['a line break and a quote', 'a\r\n"b"\\'],
    ['what ends a line for some readers', '\u0085\u2028\u2029\u000b\u000c'],
    ['what steers a terminal', '\u001b[2J\u009b2J\u007f\u0007'],
    ['what turns text around or is invisible', '\u202etxt.exe\u2066\u200b\u200f\ufeff\u{e0041}'],
    ['half a character', '\ud800'],
    ['an end and a beginning', '"}\n{"event":"upload"'],
  ] as const) {
    it(`keeps ${title} in one line that can be read back`, () => {
      const line = formatEvent({ ...event, file: name, customer: name })
      expect(line.slice(0, -1)).to.match(/^[ -~]*$/)
      expect(JSON.parse(line)).to.include({ file: name, customer: name })
    })
  }

  it('leaves what people can read', () => {
    expect(formatEvent({ ...event, file: 'Zoë 東京 👍.txt' })).to.include('"Zoë 東京 👍.txt"')
  })

  it('is short enough for a pipe to take in one piece, whatever the names are', () => {
    const longest = '\u0001'.repeat(255)
    const line = formatEvent({
      ...event,
      file: longest,
      customer: longest,
      requestId: 'x'.repeat(128),
      reason: 'x'.repeat(30),
      address: 'x'.repeat(45),
    })
    expect(Buffer.byteLength(line)).to.be.below(4096)
  })
})

describe('formatOmission', () => {
  it('counts events that have no line of their own', () => {
    expect(formatOmission(event.time, 'too-many', 12)).to.equal(
      '{"time":"2026-11-21T02:45:56.007Z","event":"omitted","reason":"too-many","count":12}\n',
    )
  })
})
