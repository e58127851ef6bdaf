import { createFileService, type Credential } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import { isKeeping, keptFindings, type KeptExamination } from '../../src/doctor/kept-findings.ts'

const alice: Credential = { name: 'alice', passwordHash: 'x', quota: 1_000 }
const day = 86_400_000

async function findingsOf({
  free = 10_000,
  credentials = [alice],
  ...changed
}: Partial<Omit<KeptExamination, 'credentials'>> & {
  readonly free?: number
  readonly credentials?: readonly Credential[]
}): Promise<readonly string[]> {
  const store = createMemoryBlobStore()
  const files = createFileService({ store, keepReplacedMs: day }).filesOf(alice)
  for (const size of [100, 200, 300]) await files.upload('a', new Uint8Array(size))
  const found = keptFindings({
    store: { ...store, freeSpace: async () => free },
    config: {
      ...{ store: 'disk', 'keep-replaced': day, 'keep-quota': undefined, 'min-free-space': 500 },
    },
    credentials: () => credentials,
    ...changed,
  })
  const lines: string[] = []
  for await (const { mark, check, message, remedies } of found) {
    lines.push(`${mark}: ${check}: ${[message, ...remedies].join(' | ')}`)
  }
  return lines
}

describe('keptFindings', () => {
  it('counts what is kept, and says that all that may be kept has room', async () => {
    expect(await findingsOf({})).to.deep.equal([
      'ok: versions: 2 of 300 B are kept',
      'ok: versions: up to 1.00 kB has room',
    ])
  })

  it('warns if more may be kept than has room', async () => {
    expect((await findingsOf({ free: 1_000 }))[1]).to.equal(
      'warning: versions: may be kept up to 1.00 kB, and there is room for 800 B; then the oldest goes before its time | set a lower --keep-quota, or add room',
    )
    const credentials = [{ name: 'bob', passwordHash: 'x' }]
    expect((await findingsOf({ credentials }))[1]).to.include('may be kept without a limit')
  })

  it('warns if the disk is nearly full', async () => {
    expect((await findingsOf({ free: 499 }))[1]).to.match(
      /^warning: versions: 499 B are free, less than --min-free-space/,
    )
  })

  it('has a problem with a store that cannot keep, with its reason', async () => {
    const store = { historyProblem: () => 'Its bucket keeps no versions.' }
    expect(await findingsOf({ store })).to.deep.equal([
      'problem: versions: --keep-replaced is set, but the disk store cannot keep what is replaced | Its bucket keeps no versions | Leave --keep-replaced out.',
    ])
  })
})

describe('isKeeping', () => {
  it('knows whether anything is to be kept', () => {
    expect(isKeeping({ 'keep-replaced': undefined }, [alice])).to.equal(false)
    expect(isKeeping({ 'keep-replaced': 0 }, [{ ...alice, keepReplacedMs: 0 }])).to.equal(false)
    expect(isKeeping({ 'keep-replaced': 0 }, [{ ...alice, keepReplacedMs: day }])).to.equal(true)
    expect(isKeeping({ 'keep-replaced': day }, [])).to.equal(true)
  })
})
