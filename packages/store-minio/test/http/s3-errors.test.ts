import type { RetryErrorInfo } from '@smithy/types'
import { expect } from 'chai'
import {
  markUnsent,
  createRetryStrategy,
  translateError,
  type RetryStrategyOptions,
} from '../../src/http/s3-errors.ts'

/** The pauses until the strategy gives up. */
async function pausesFor(
  error: Error,
  errorType: RetryErrorInfo['errorType'],
  random = () => 1,
  options?: RetryStrategyOptions,
): Promise<number[]> {
  const strategy = createRetryStrategy(random, options)
  const pauses: number[] = []
  let token = await strategy.acquireInitialRetryToken('')
  for (;;) {
    try {
      // The type wants a narrower cause than errors have.
      const failure = { error: error as NonNullable<RetryErrorInfo['error']>, errorType }
      token = await strategy.refreshRetryTokenForRetry(token, failure)
    } catch {
      return pauses
    }
    pauses.push(token.getRetryDelay())
    expect(token.getRetryCount()).to.equal(pauses.length)
  }
}

const unanswered = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
const answered = (name: string, httpStatusCode: number) =>
  Object.assign(new Error(name), { name, $metadata: { httpStatusCode } })

describe('translateError', () => {
  it('distinguishes a full store from one that keeps no more versions of one object', () => {
    const full = translateError(answered('XMinioStorageFull', 507))
    expect(full).to.include({ code: 'insufficient-storage' })
    const limited = translateError(answered('MaxVersionsExceeded', 400))
    expect(limited).to.include({ code: 'store-unavailable' })
  })
})

describe('createRetryStrategy', () => {
  it('soon gives up a server that cannot be reached', async () => {
    expect(await pausesFor(unanswered, 'TRANSIENT')).to.deep.equal([200, 400])
  })

  it('waits some ten seconds for one that says it cannot do it now', async () => {
    const pauses = await pausesFor(answered('SlowDownWrite', 503), 'SERVER_ERROR')
    expect(pauses).to.deep.equal([200, 400, 800, 1600, 3200, 4000, 4000])
  })

  it('takes it for no mistake of ours that a node does not know the parts', async () => {
    expect(await pausesFor(answered('InvalidPart', 400), 'CLIENT_ERROR')).to.have.length(7)
  })

  it('does not repeat what is our mistake', async () => {
    expect(await pausesFor(answered('AccessDenied', 403), 'CLIENT_ERROR')).to.deep.equal([])
    expect(await pausesFor(new TypeError('bug'), 'CLIENT_ERROR')).to.deep.equal([])
  })

  it('does not ask a full store again', async () => {
    expect(await pausesFor(answered('XMinioStorageFull', 507), 'SERVER_ERROR')).to.deep.equal([])
  })

  it('does not ask again for what a server does not know', async () => {
    expect(await pausesFor(answered('NotImplemented', 501), 'SERVER_ERROR')).to.deep.equal([])
  })

  it('asks a server only once more that has been silent', async () => {
    const silent = Object.assign(new Error('silent'), { code: 'ETIMEDOUT' })
    expect(await pausesFor(silent, 'TRANSIENT')).to.have.length(1)
    const begun = Object.assign(silent, { $metadata: { httpStatusCode: 200 } })
    expect(await pausesFor(begun, 'TRANSIENT')).to.have.length(1)
  })

  describe('for requests that may not be repeated blindly', () => {
    const countOf = async (error: Error, type: RetryErrorInfo['errorType']) =>
      (await pausesFor(error, type, () => 1, { repeatsDoubtful: false })).length

    it('repeats none whose answer is lost, or comes from a proxy that has lost it', async () => {
      const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' })
      expect(await countOf(reset, 'TRANSIENT')).to.equal(0)
      for (const status of [500, 502, 503, 504]) {
        expect(await countOf(answered('UnknownError', status), 'SERVER_ERROR')).to.equal(0)
      }
    })

    it('repeats those that were not sent to their end, or of which the store has done nothing', async () => {
      const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
      expect(await countOf(markUnsent(refused), 'TRANSIENT')).to.equal(2)
      expect(await countOf(answered('SlowDownWrite', 503), 'SERVER_ERROR')).to.equal(7)
    })
  })

  it('cuts pauses at random', async () => {
    expect(await pausesFor(unanswered, 'TRANSIENT', () => 0.5)).to.deep.equal([100, 200])
    expect(await pausesFor(unanswered, 'TRANSIENT', () => 0)).to.deep.equal([0, 0])
  })
})
