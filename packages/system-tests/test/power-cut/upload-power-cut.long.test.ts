// It cuts the power of real file systems under uploads in pieces.
import { randomInt } from 'node:crypto'
import { describeWithDisks } from '@holdfast/testing'
import { expect } from 'chai'
import { cutUploads } from './cut-uploads.ts'
import { missingForPowerCuts } from './missing-for-power-cuts.ts'

const minute = 60_000

const disks = [
  { fileSystem: 'ext4', cuts: 4 },
  { fileSystem: 'xfs', cuts: 3 },
  { fileSystem: 'btrfs', cuts: 3 },
] as const

/** Cuts after which a lie must have been found; as a rule the first or the second finds it. */
const enoughForLiars = 40

describeWithDisks('resumable of openDiskBlobStore, on a disk whose power is cut', () => {
  const figures: string[] = []

  after(() => {
    for (const line of figures) console.log(`figures: power cuts of uploads: ${line}`)
  })

  for (const { fileSystem, cuts } of disks) {
    it(`has each offset that it acknowledged, and the bytes before it, on ${fileSystem}`, async function () {
      this.timeout(10 * minute)
      const missing = missingForPowerCuts(fileSystem)
      if (missing !== undefined) return void figures.push(`NOT DONE on ${fileSystem}: ${missing}`)
      const seed = randomInt(2 ** 31)
      const counts = await cutUploads({ seed, cuts, fileSystem })
      expect(counts.violations, `seed ${seed}`).to.deep.equal([])
      expect(counts.cuts).to.equal(cuts)
      const { acknowledged, judged } = counts
      figures.push(
        `${cuts} on ${fileSystem}, ${acknowledged} acknowledged, ${judged} looked at, nothing lost`,
      )
    })
  }

  it('loses bytes where every sync is a lie, which this test finds', async function () {
    this.timeout(10 * minute)
    const missing = missingForPowerCuts('ext4')
    if (missing !== undefined) return void figures.push(`NOT DONE with lies: ${missing}`)
    const seed = randomInt(2 ** 31)
    const options = { seed, cuts: enoughForLiars, fileSystem: 'ext4', lie: 'all' } as const
    const { cuts, violations } = await cutUploads(options)
    expect(violations, `after ${cuts} cuts`).to.not.deep.equal([])
    figures.push(`${violations.length} losses of lies found by cut ${cuts}`)
  })
})
