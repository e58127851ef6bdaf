// It lasts a minute.
import { randomInt } from 'node:crypto'
import { expect } from 'chai'
import { openDiskSite } from './soak/disk-site.ts'
import { startSoak } from './soak/start-soak.ts'

const minute = 60_000

describe('one minute of scripts/soak', () => {
  let figures = 'did not start'

  after(() => console.log(`figures: soak: ${figures}`))

  it('finds every answer of servers that are killed, stopped, suspended and doubled to be true', async function () {
    this.timeout(5 * minute)
    const seed = randomInt(2 ** 31)
    const soak = startSoak({ seed, durationMs: minute, clients: 12, openSite: openDiskSite })
    try {
      await soak.ended
    } catch (error) {
      throw new Error(`scripts/soak --seed ${seed}: ${String(error)}`, { cause: error })
    } finally {
      figures = soak.figures()
    }
    expect(soak.summary(), 'kinds of operations').to.have.length.above(10)
  })
})
