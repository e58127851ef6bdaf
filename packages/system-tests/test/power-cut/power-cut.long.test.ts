// It cuts the power of real file systems, time and again.
import { randomInt } from 'node:crypto'
import { describeWithDisks } from '@holdfast/testing'
import { expect } from 'chai'
import { missingForPowerCuts } from './missing-for-power-cuts.ts'
import { startPowerCuts } from './start-power-cuts.ts'

const minute = 60_000

const disks = [
  { fileSystem: 'ext4', cuts: 8 },
  { fileSystem: 'xfs', cuts: 4 },
  { fileSystem: 'btrfs', cuts: 4 },
] as const

const lies = [
  { lie: 'all', title: 'every sync is a lie' },
  { lie: 'files', title: 'every sync of a file is a lie' },
  { lie: 'directories', title: 'every sync of a directory is a lie' },
  { lie: 'late', title: 'every sync comes too late' },
] as const

/** Cuts after which a lie must have been found; as a rule the first or the second finds it. */
const enoughForLiars = 40

describeWithDisks('holdfast serve, on a disk whose power is cut', () => {
  const figures: string[] = []

  after(() => {
    for (const line of figures) console.log(`figures: power cuts: ${line}`)
  })

  for (const { fileSystem, cuts } of disks) {
    it(`has what it acknowledged, whole and without litter, on ${fileSystem}`, async function () {
      this.timeout(10 * minute)
      const missing = missingForPowerCuts(fileSystem)
      if (missing !== undefined) return void figures.push(`NOT DONE on ${fileSystem}: ${missing}`)
      const seed = randomInt(2 ** 31)
      const counts = await startPowerCuts({ seed, cuts, fileSystem })
      expect(counts.violations, `scripts/powercut --seed ${seed}`).to.deep.equal([])
      expect(counts.cuts).to.equal(cuts)
      const { acknowledged, judged, uploads, cached } = counts
      figures.push(
        `${cuts} on ${fileSystem}, ${acknowledged} operations acknowledged, ${judged} names and ${uploads} uploads in pieces judged, ` +
          `${cached} blocks in the cache, nothing lost`,
      )
    })
  }

  for (const { fileSystem } of disks) {
    it(`keeps all that was ever acknowledged, with --keep-replaced, on ${fileSystem}`, async function () {
      this.timeout(10 * minute)
      const missing = missingForPowerCuts(fileSystem)
      if (missing !== undefined) return void figures.push(`NOT DONE on ${fileSystem}: ${missing}`)
      const seed = randomInt(2 ** 31)
      const counts = await startPowerCuts({ seed, cuts: 4, fileSystem, keepsReplaced: true })
      expect(counts.violations, `scripts/powercut --keep --seed ${seed}`).to.deep.equal([])
      const { acknowledged, cuts } = counts
      figures.push(
        `${cuts} with --keep-replaced on ${fileSystem}, ${acknowledged} operations acknowledged, nothing lost`,
      )
    })
  }

  for (const { lie, title } of lies) {
    it(`loses files where ${title}, which this test finds`, async function () {
      this.timeout(10 * minute)
      const missing = missingForPowerCuts('ext4')
      if (missing !== undefined) return void figures.push(`NOT DONE where ${title}: ${missing}`)
      const options = { seed: randomInt(2 ** 31), cuts: enoughForLiars, lie } as const
      const { cuts, violations } = await startPowerCuts({ ...options, fileSystem: 'ext4' })
      expect(violations, `after ${cuts} cuts`).to.not.deep.equal([])
      figures.push(`where ${title}, ${violations.length} losses found by cut ${cuts}`)
    })
  }
})
