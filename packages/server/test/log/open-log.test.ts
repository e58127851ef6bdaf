import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { createLogWriter } from '../../src/log/open-log.ts'

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
