import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { nextModificationTime } from '../../src/write/publish-file.ts'

describe('nextModificationTime', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'holdfast-time-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  it('gives each of ten writers times of its own, as the file system keeps them', async () => {
    await using file = await open(join(directory, 'file'), 'w')
    for (let round = 0; round < 200; round++) {
      const writer = round % 10
      const time = nextModificationTime(writer)
      await file.utimes(time, time)
      const { mtimeNs } = await file.stat({ bigint: true })
      expect(Number((mtimeNs / 1000n) % 10n)).to.equal(writer)
    }
  })

  it('never gives a time twice, and none that is far from now', () => {
    const from = Date.now() / 1000
    const times = Array.from({ length: 1000 }, (_, n) => nextModificationTime(n % 3))
    const to = Date.now() / 1000
    expect(new Set(times).size).to.equal(1000)
    for (const time of times) expect(time).to.be.within(from - 0.1, to + 0.1)
  })
})
