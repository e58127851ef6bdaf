import { HoldfastError, type FileToUpload } from '@holdfast/client/browser'
import { expect } from 'chai'
import { createSendTogether } from '../../page/uploads/file-sender.ts'
import { brokenLine, taken } from './refusals.ts'

/** Results of a batch by name: an error, or nothing where the file is stored; `unknown` has no result, and fails the request at its end. */
type Results = Readonly<Record<string, Error | 'breaks' | 'unknown'>>

function harness(results: Results = {}, size = 1) {
  const requests: string[][] = []
  const send = createSendTogether({
    async *uploadMany(files) {
      const all = [...(files as Iterable<FileToUpload>)].map(({ name }) => name)
      requests.push(all)
      for (const name of all) {
        const result = results[name]
        if (result === 'breaks') throw brokenLine()
        if (result !== 'unknown') yield { name, error: result }
      }
      if (Object.values(results).includes('unknown')) throw brokenLine()
    },
  })
  const outcome = async (name: string, signal = new AbortController().signal) => {
    try {
      await send({ name, body: new Blob(['x'.repeat(size)]) }, signal)
      return 'stored'
    } catch (error) {
      return error instanceof HoldfastError ? error.code : 'aborted'
    }
  }
  return { requests, outcome }
}

describe('createSendTogether', () => {
  it('stores files of a moment by one request, each with its own outcome', async () => {
    const { requests, outcome } = harness({ b: taken() })
    const outcomes = await Promise.all(['a', 'b', 'c'].map((name) => outcome(name)))
    expect(outcomes).to.deep.equal(['stored', 'already-exists', 'stored'])
    expect(requests).to.deep.equal([['a', 'b', 'c']])
  })

  it('fails what has no answer where the connection breaks, and nothing else', async () => {
    const { outcome } = harness({ b: 'breaks' })
    const outcomes = await Promise.all(['a', 'b', 'c'].map((name) => outcome(name)))
    expect(outcomes).to.deep.equal(['stored', 'no-answer', 'no-answer'])
  })

  it('takes no result of a later file for that of one whose outcome is unknown', async () => {
    const { outcome } = harness({ b: 'unknown', d: taken() })
    const outcomes = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => outcome(name)))
    expect(outcomes).to.deep.equal(['stored', 'no-answer', 'stored', 'already-exists', 'stored'])
  })

  it('sends at most a hundred together, and none that is cancelled before', async () => {
    const { requests, outcome } = harness()
    const cancelled = new AbortController()
    const sending = Array.from({ length: 250 }, (_, at) => outcome(`${at}`))
    void outcome('cancelled', cancelled.signal)
    cancelled.abort()
    await Promise.all(sending)
    expect(requests.map(({ length }) => length)).to.deep.equal([100, 100, 50])
  })

  it('ends a request when all whose result is open are cancelled', async () => {
    const ended = Promise.withResolvers<string>()
    const send = createSendTogether({
      async *uploadMany(_, options) {
        yield { name: 'a', error: undefined }
        options?.signal?.addEventListener('abort', () => ended.resolve('ended'))
        await ended.promise
        throw brokenLine()
      },
    })
    const [first, second] = [new AbortController(), new AbortController()]
    const body = new Blob(['x'])
    const stored = send({ name: 'a', body }, first.signal)
    const cancelled = send({ name: 'b', body }, second.signal).catch(() => 'cancelled')
    await stored
    second.abort()
    expect(await ended.promise).to.equal('ended')
    expect(await cancelled).to.equal('cancelled')
  })

  it('sends about 2 MiB together at most', async () => {
    const { requests, outcome } = harness({}, 256 * 1024)
    await Promise.all(Array.from({ length: 20 }, (_, at) => outcome(`${at}`)))
    expect(requests.map(({ length }) => length)).to.deep.equal([8, 8, 4])
  })
})
