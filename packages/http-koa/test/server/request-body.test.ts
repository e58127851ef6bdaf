import { once } from 'node:events'
import { PassThrough, Readable, Writable } from 'node:stream'
import { expect } from 'chai'
import { chunksOf } from '../../src/server/request-body.ts'

const brokenOff = () => new Error('broken off')

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const all: Buffer[] = []
  for await (const chunk of chunks) all.push(chunk)
  return all
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.fail('succeeded'),
    (error: unknown) => error,
  )
}

describe('chunksOf', () => {
  it('gives the very chunks that have arrived, also those that had to wait', async () => {
    const stream = new PassThrough({ highWaterMark: 100 })
    const sent = ['one', 'two', 'three'].map((text) => Buffer.from(text))
    for (const chunk of sent) stream.push(chunk)
    stream.end()
    const arrived = await collect(chunksOf(stream, brokenOff))
    expect(arrived).to.have.length(3)
    for (const [at, chunk] of arrived.entries()) expect(chunk).to.equal(sent[at])
  })

  it('gives nothing of an empty stream', async () => {
    expect(await collect(chunksOf(Readable.from([]), brokenOff))).to.deep.equal([])
  })

  it('ends for a stream that has been read already', async () => {
    const stream = Readable.from([Buffer.from('read')])
    await once(stream.resume(), 'end')
    expect(await collect(chunksOf(stream, brokenOff))).to.deep.equal([])
  })

  it('asks for no more than the stream keeps ready while a chunk is being dealt with', async () => {
    let made = 0
    const stream = new Readable({
      highWaterMark: 10,
      read() {
        this.push(made++ < 100 ? Buffer.alloc(10) : null)
      },
    })
    for await (const chunk of chunksOf(stream, brokenOff)) {
      expect(chunk).to.have.length(10)
      const madeBefore = made
      await new Promise((resolve) => setImmediate(resolve))
      expect(made - madeBefore).to.be.at.most(2)
    }
    expect(made).to.equal(101)
  })

  it('gives every chunk where another reader goes on while one is being dealt with', async () => {
    const sent = Array.from({ length: 20 }, (_, at) => Buffer.from(`chunk ${at}`))
    const stream = Readable.from(sent, { objectMode: false, highWaterMark: 1 })
    const other = new Writable({
      highWaterMark: 1,
      write: (_chunk, _encoding, done) => void setImmediate(done),
    })
    stream.pipe(other)
    const arrived: Buffer[] = []
    for await (const chunk of chunksOf(stream, brokenOff)) {
      arrived.push(chunk)
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(arrived.map(String)).to.deep.equal(sent.map(String))
  })

  it('says at the end how many bytes there were, and throws what that throws', async () => {
    const stream = () => Readable.from([Buffer.from('one'), Buffer.from('three')])
    const sizes: number[] = []
    await collect(chunksOf(stream(), brokenOff, (size) => sizes.push(size)))
    expect(sizes).to.deep.equal([8])
    const refuse = () => {
      throw new Error('too few')
    }
    const failure = await failureOf(collect(chunksOf(stream(), brokenOff, refuse)))
    expect(failure).to.have.property('message', 'too few')
  })

  for (const [title, error] of [
    ['fails', new Error('its own reason')],
    ['is closed before its end', undefined],
  ] as const) {
    it(`throws the given error where the stream ${title}`, async () => {
      const stream = new PassThrough()
      stream.on('error', () => {})
      stream.write('begun')
      const chunks = chunksOf(stream, brokenOff)
      expect((await chunks.next()).value?.toString()).to.equal('begun')
      const failing = failureOf(chunks.next())
      stream.destroy(error)
      expect(await failing).to.have.property('message', 'broken off')
    })

    it(`throws so also where the stream ${title} before it is read`, async () => {
      const stream = new PassThrough()
      stream.on('error', () => {})
      stream.destroy(error)
      const failure = await failureOf(collect(chunksOf(stream, brokenOff)))
      expect(failure).to.have.property('message', 'broken off')
    })
  }

  it('leaves a stream alive that it was not to read to the end, for others to do so', async () => {
    const stream = new PassThrough()
    stream.write('first')
    for await (const _ of chunksOf(stream, brokenOff)) break
    expect(stream).to.include({ destroyed: false })
    expect(stream.listenerCount('data')).to.equal(0)
    stream.end('the rest')
    await once(stream.resume(), 'end')
  })
})
