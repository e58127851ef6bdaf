import { expect } from 'chai'
import { prettyLine } from '../../src/log/open-log.ts'

const general = { level: 30, time: Date.UTC(2026, 10, 22, 12, 0, 1, 5), pid: 1, hostname: 'host' }
const pretty = (fields: object) =>
  prettyLine(`${JSON.stringify({ ...general, ...fields })}\n`, false)

describe('prettyLine', () => {
  let zone: string | undefined
  before(() => {
    zone = process.env['TZ']
    process.env['TZ'] = 'Asia/Kolkata'
  })
  after(() => {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  })

  it('has local time, level, message and fields', () => {
    const line = pretty({ msg: 'holdfast listens', url: 'http://127.0.0.1:3000', workers: 2 })
    expect(line).to.equal(
      '2026-11-22 17:30:01.005 INFO  holdfast listens url=http://127.0.0.1:3000 workers=2\n',
    )
  })

  it('says of a request first what was asked and answered', () => {
    const request = { method: 'GET', path: '/list', status: 200, durationMs: 1.5, customer: 'zoe' }
    expect(pretty({ msg: 'request', ...request })).to.include(
      'INFO  GET /list 200 1.5ms customer=zoe',
    )
    expect(pretty({ msg: 'request', method: 'GET', aborted: true })).to.include('GET aborted=true')
  })

  it('names each level, and those between', () => {
    for (const [level, name] of [
      [60, 'FATAL'],
      [50, 'ERROR'],
      [45, 'WARN'],
      [20, 'DEBUG'],
      [10, 'TRACE'],
      [1, 'TRACE'],
    ] as const) {
      expect(pretty({ level, msg: 'x' })).to.include(` ${name}`)
    }
  })

  it('colours the level only if it may', () => {
    const line = `${JSON.stringify({ ...general, msg: 'x' })}\n`
    expect(prettyLine(line, true)).to.include('\u001b[32mINFO')
    expect(prettyLine(line, false)).not.to.include('\u001b')
  })

  it('quotes what is no word', () => {
    expect(pretty({ msg: 'x', reason: 'no "such" file', none: null, list: [1] })).to.include(
      'x reason="no \\"such\\" file" none=null list=[1]',
    )
  })

  it('puts the stack of an error below', () => {
    const lines = pretty({ msg: 'x', err: { message: 'm', stack: 'Error: m\n    at a' } }).split(
      '\n',
    )
    expect(lines.slice(1)).to.deep.equal(['    Error: m', '    at a', ''])
    expect(pretty({ msg: 'x', err: { code: 'EIO' } })).to.include('\n    {"code":"EIO"}\n')
  })

  it('lets no client command the terminal', () => {
    const evil = 'a\u001b[2J\u009b31m\u202e\nFATAL'
    const line = pretty({
      msg: 'request',
      method: 'GET',
      path: evil,
      customer: evil,
      err: { stack: evil },
    })
    expect(line).not.to.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    expect(line.split('\n')).to.have.length(4)
  })
})
