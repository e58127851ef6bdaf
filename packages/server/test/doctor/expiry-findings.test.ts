import type { Credential } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import {
  expiryFindings,
  isExpiring,
  type ExpiryExamination,
} from '../../src/doctor/kept-findings.ts'

const day = 86_400_000
const alice: Credential = { name: 'alice', passwordHash: 'x', expireAfterMs: 30 * day }
const bob: Credential = { name: 'bob', passwordHash: 'x' }

async function* bytes(size: number) {
  yield new Uint8Array(size)
}

/** What is found of a store in which alice has stored a file of 100 bytes on each of 40 days, the last one today. */
async function findingsOf(changed: Partial<ExpiryExamination> = {}): Promise<readonly string[]> {
  let time = 0
  const store = createMemoryBlobStore(() => new Date(time))
  for (let age = 39; age >= 0; age--) {
    time = 1_000 * day - age * day
    await store.put({ customer: 'alice', name: `${age}` }, bytes(100))
  }
  const found = expiryFindings({ store, credentials: [alice, bob], now: () => time, ...changed })
  const lines: string[] = []
  for await (const { mark, message, remedies } of found) {
    lines.push(`${mark}: ${[message, ...remedies].join(' | ')}`)
  }
  return lines
}

describe('expiryFindings', () => {
  it('counts the files that expire within a day, of customers whose files expire', async () => {
    expect(await findingsOf()).to.deep.equal([
      'ok: 11 files of "alice", 1.10 kB, expire within a day',
    ])
  })

  it('says where none does, and counts further logins with their customer', async () => {
    const credentials = [
      { ...alice, expireAfterMs: 90 * day },
      { ...alice, name: 'alice/ci', login: 'ci' },
    ]
    expect(await findingsOf({ credentials })).to.deep.equal([
      'ok: no file of "alice" expires within a day',
    ])
  })

  it('warns of a store in which nothing expires', async () => {
    const { expiry: _, ...store } = createMemoryBlobStore()
    expect(await findingsOf({ store })).to.deep.equal([
      'warning: files of "alice" never expire in this store | remove expireAfter from the customers file',
    ])
  })

  it('ends when it is aborted', async () => {
    const reason = new Error('enough')
    const ending = findingsOf({ signal: AbortSignal.abort(reason) })
    expect(await ending.catch((error: unknown) => error)).to.equal(reason)
  })

  it('knows whether files expire', () => {
    expect(isExpiring([bob])).to.equal(false)
    expect(isExpiring([bob, alice])).to.equal(true)
    expect(isExpiring([{ ...alice, name: 'alice/ci', login: 'ci' }])).to.equal(false)
  })
})
