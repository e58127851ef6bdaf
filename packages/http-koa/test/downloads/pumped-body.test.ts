import { PassThrough, Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { finished, pipeline } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { createPumpedBody } from '../../src/downloads/stream-body.ts'

const text = 'the quick brown fox jumps over the lazy dog'

/** The words of the text, all in one buffer, one after the other; and what was done with it. */
function wordsInOneBuffer() {
  const seen = { asked: 0, isClosed: false }
  async function* words() {
    const shared = Buffer.alloc(100)
    try {
      for (const word of text.split(/(?<= )/)) {
        seen.asked++
        shared.fill(0).write(word)
        yield shared.subarray(0, word.length)
      }
    } finally {
      seen.isClosed = true
    }
  }
  return { seen, content: words() }
}

describe('createPumpedBody', () => {
  it('writes every chunk before the next one is asked for', async () => {
    const { seen, content } = wordsInOneBuffer()
    let written = ''
    const slow = new Writable({
      write(chunk: Buffer, _encoding, done) {
        const askedFor = seen.asked
        // A chunk that is overwritten too early is another one by then.
        setImmediate(() => {
          written += chunk.toString()
          expect(seen.asked).to.equal(askedFor)
          done()
        })
      },
    })
    await finished(createPumpedBody(content).pipe(slow))
    expect(written).to.equal(text)
    expect(seen.isClosed).to.equal(true)
  })

  it('ends, and has its destination end, when everything is written', async () => {
    let written = ''
    const destination = new Writable({
      write(chunk: Buffer, _encoding, done) {
        written += chunk.toString()
        setImmediate(done)
      },
    })
    // It rejects where one of the two closes before its end.
    await pipeline(createPumpedBody(wordsInOneBuffer().content), destination)
    expect(written).to.equal(text)
  })

  it('copies what is read in any other way', async () => {
    const chunks: Buffer[] = []
    for await (const chunk of createPumpedBody(wordsInOneBuffer().content)) {
      chunks.push(chunk as Buffer)
      await nextTurn()
    }
    expect(Buffer.concat(chunks).toString()).to.equal(text)
  })

  it('asks for no more, and closes the content, when the reader leaves', async () => {
    const { seen, content } = wordsInOneBuffer()
    const leaving = new Writable({
      write: () => {
        // Never done with the first chunk.
        setImmediate(() => leaving.destroy())
      },
    })
    createPumpedBody(content).pipe(leaving)
    while (!seen.isClosed) await nextTurn()
    expect(seen.asked).to.be.lessThan(3)
  })

  it('fails with what the content fails with, and ends nothing', async () => {
    const failure = new Error('the store is gone')
    const body = createPumpedBody(
      (async function* () {
        yield Buffer.from('begun')
        throw failure
      })(),
    )
    const destination = new PassThrough()
    const failed = new Promise((resolve) => body.once('error', resolve))
    body.pipe(destination)
    expect(await failed).to.equal(failure)
    expect(destination.writableEnded).to.equal(false)
    destination.end()
    expect((await buffer(destination)).toString()).to.equal('begun')
  })
})
