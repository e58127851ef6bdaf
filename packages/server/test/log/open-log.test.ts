import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { createLogWriter, gatherLines, prettyLine } from '../../src/log/open-log.ts'
import { startSilentServer } from './silent-server.ts'

const full = Object.assign(new Error('no space'), { code: 'ENOSPC' })
const busy = Object.assign(new Error('try again'), { code: 'EAGAIN' })

/** A writer to an output with `room` bytes, or one that is busy or does not answer. */
function writerTo({ room = Infinity, maxWaiting = 1000 } = {}) {
  const output = { room, text: '', isBusy: false, held: Promise.resolve() }
  const told = { dropped: 0, recovered: [] as number[] }
  const writer = createLogWriter(
    async (bytes) => {
      await output.held
      if (output.isBusy) throw busy
      if (output.room === 0) throw full
      const taken = bytes.subarray(0, output.room)
      output.room -= taken.length
      output.text += Buffer.from(taken).toString()
      return taken.length
    },
    {
      maxWaiting,
      onDropped: (lines) => void (told.dropped += lines),
      onRecovered: (lines) => void told.recovered.push(lines),
    },
  )
  return { writer, output, told }
}

describe('createLogWriter', () => {
  it('writes lines in order', async () => {
    const { writer, output } = writerTo()
    for (const lines of ['1\n2\n', '3\n', '4\n']) writer.write(lines)
    expect(await writer.end(60_000)).to.be.true
    expect(output.text).to.equal('1\n2\n3\n4\n')
  })

  it('drops lines that cannot be written, and says how many when one can be', async () => {
    const { writer, output, told } = writerTo({ room: 0 })
    writer.write('1\n2\n')
    writer.write('3\n')
    await until('they are dropped', () => told.dropped === 3)
    output.room = Infinity
    writer.write('4\n')
    await writer.end(60_000)
    expect(output.text).to.equal('4\n')
    expect(told).to.deep.equal({ dropped: 3, recovered: [3] })
  })

  it('does not continue a line that was cut off', async () => {
    const { writer, output, told } = writerTo({ room: 5 })
    writer.write('123\n456\n789\n')
    await until('two are dropped', () => told.dropped === 2)
    output.room = Infinity
    writer.write('abc\n')
    await writer.end(60_000)
    expect(output.text).to.equal('123\n4\nabc\n')
    expect(told.recovered).to.deep.equal([2])
  })

  it('tries a pipe that is full again, without dropping a line', async () => {
    const { writer, output, told } = writerTo()
    output.isBusy = true
    writer.write('1\n')
    await new Promise((resolve) => setImmediate(resolve))
    output.isBusy = false
    await until('it is written', () => output.text === '1\n')
    expect(told).to.deep.equal({ dropped: 0, recovered: [] })
    expect(await writer.end(60_000)).to.be.true
  })

  it('keeps no more waiting than it may, and recovers once half of that is written', async () => {
    const { writer, output, told } = writerTo({ maxWaiting: 40 })
    const { promise, resolve } = Promise.withResolvers<undefined>()
    output.held = promise.then(() => {})
    for (let n = 0; n < 10; n++) writer.write('123456789\n')
    expect(told).to.deep.equal({ dropped: 6, recovered: [] })
    resolve(undefined)
    await writer.end(60_000)
    expect(output.text).to.equal('123456789\n'.repeat(4))
    expect(told.recovered).to.deep.equal([6])
  })

  it('ends in time at a pipe that stays full, and drops the rest', async () => {
    const { writer, output, told } = writerTo()
    output.isBusy = true
    writer.write('1\n')
    writer.write('2\n')
    expect(await writer.end(1)).to.be.true
    expect(output.text).to.equal('')
    expect(told.dropped).to.equal(2)
    writer.write('3\n')
    expect(told.dropped).to.equal(3)
  })

  it('ends in time while a write does not return, and says so', async () => {
    const { writer, output } = writerTo()
    const { promise, resolve } = Promise.withResolvers<undefined>()
    output.held = promise.then(() => {})
    writer.write('1\n')
    expect(await writer.end(1)).to.be.false
    resolve(undefined)
  })
})

/** A writer of lines in front of one that keeps what it is given. */
function collect(maxBytes = 1000) {
  const written: string[] = []
  const lines = gatherLines((text) => void written.push(text), maxBytes)
  return { lines, written }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('gatherLines', () => {
  it('hands the lines of one turn on together, in order, and those of the next one behind them', async () => {
    const { lines, written } = collect()
    lines.write('a\n')
    lines.write('b\n')
    expect(written).to.deep.equal([])
    await turn()
    lines.write('c\n')
    await turn()
    expect(written).to.deep.equal(['a\nb\n', 'c\n'])
  })

  it('hands on whole lines of at most so many bytes together, and a longer one alone', async () => {
    const { lines, written } = collect(8)
    for (const line of ['123\n', '456\n', 'ä€\n', 'much longer\n', 'x\n']) lines.write(line)
    await turn()
    expect(written).to.deep.equal(['123\n456\n', 'ä€\n', 'much longer\n', 'x\n'])
  })

  it('hands on at once what is to be written at once', async () => {
    const { lines, written } = collect()
    lines.write('a\n')
    lines.flush()
    expect(written).to.deep.equal(['a\n'])
    await turn()
    expect(written).to.deep.equal(['a\n'])
  })
})

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

describe('The format of the log', () => {
  /** What a server writes to a terminal, or into a file, while it starts and is asked for a list. */
  async function logOf(output: 'terminal' | 'file', ...flags: readonly string[]): Promise<string> {
    const lineOf = (serve: string) =>
      output === 'terminal'
        ? `script -qfc 'env -u NO_COLOR TERM=xterm ${serve}' log`
        : `${serve} > log`
    await using server = await startSilentServer(lineOf, flags)
    await server.ask('/list')
    const text = () => readFileSync(join(server.site.path, 'log'), 'utf8')
    await until('the request is logged', () => text().includes('/list'))
    return text()
  }

  it('is for people on a terminal, with colours', async () => {
    const log = await logOf('terminal')
    expect(log).to.match(
      /\d\d:\d\d:\d\d\.\d{3} \u001b\[32mINFO \u001b\[39m holdfast listens on http/,
    )
    expect(log).to.match(/ GET \/list 400 [\d.]+ms /)
    expect(log).not.to.include('{"level"')
  })

  it('is JSON elsewhere', async () => {
    const lines = (await logOf('file')).trim().split('\n')
    const messages = lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
    expect(messages).to.include('request')
  })

  it('is as --log-format says', async () => {
    expect(await logOf('terminal', '--log-format', 'json')).to.include('{"level":30,')
    expect(await logOf('file', '--log-format', 'pretty')).to.match(
      /^\d{4}-[^\u001b]* INFO [^\u001b]*$/,
    )
  })
})
