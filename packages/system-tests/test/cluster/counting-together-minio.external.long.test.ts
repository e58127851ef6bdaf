// A minute of faults at random. An hour: HOLDFAST_TEST_COUNTING_MINUTES=60 HOLDFAST_TEST_JOB_MINUTES=80 scripts/test, and this file.
import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { describeWithMinio, minioEnvironment } from '@holdfast/testing/minio'
import { expect } from 'chai'
import { openCountingSite, type CountingSite } from './support/counting-site.ts'

const minutes = Number(process.env['HOLDFAST_TEST_COUNTING_MINUTES'] ?? 1)

/** Each disturbs the servers for some time, and ends with all as before. */
const faults: Readonly<Record<string, (site: CountingSite) => Promise<void>>> = {
  'a server is killed': (site) => site.replace(randomInt(3)),
  async 'a server stands still for longer than its lease'(site) {
    const server = site.server(randomInt(3))
    server.signal('SIGSTOP')
    await delay(12_000)
    server.signal('SIGCONT')
  },
  async 'a server stands still for a moment'(site) {
    const server = site.server(randomInt(3))
    server.signal('SIGSTOP')
    await delay(1_000)
    server.signal('SIGCONT')
  },
  async 'the ways to Redis are slow'(site) {
    site.ways.forEach((way, n) => way.delay(20 * n + randomInt(40)))
    await delay(4_000)
    site.ways.forEach((way) => way.release())
  },
  async 'connections to Redis are reset'(site) {
    for (let n = 0; n < 6; n++) {
      site.ways[randomInt(3)]?.cut()
      await delay(300)
    }
  },
  async 'answers of Redis come late'(site) {
    const way = site.ways[randomInt(3)]
    way?.hold('down')
    await delay(200)
    way?.release()
    await delay(1_000)
  },
}

/** Deletes what may be above the quota. */
async function makeRoom(site: CountingSite): Promise<void> {
  for (const name of (await site.list()).slice(0, 25)) {
    await site.ask(0, `delete/${name}`, { method: 'DELETE' })
  }
}

describeWithMinio('Three servers behind HAProxy that count together, on MinIO', (minio) => {
  it(`store no more than the quota, whatever fails for ${minutes} minute(s)`, async function () {
    this.timeout((3 * minutes + 4) * 60_000)
    const bucket = await minio().createBucket()
    const env = minioEnvironment(minio(), bucket)
    const site = await openCountingSite({ env, minioPort: Number(new URL(minio().endpoint).port) })
    const happened: string[] = []
    let strictRounds = 0
    try {
      const end = performance.now() + minutes * 60_000
      const names = Object.keys(faults)
      for (let round = 0; performance.now() < end; round++) {
        // Each once, in turn: a minute has room for all of them.
        const name = names[minutes > 1 ? randomInt(names.length) : round % names.length] ?? ''
        happened.push(name)
        const before = site.timesAlone()
        const [done] = await Promise.all([site.work(5), faults[name]?.(site)])
        await site.untilTogether()
        expect(done, `requests while ${name}`).to.be.above(0)
        const isStrict = site.timesAlone() === before
        if (isStrict) strictRounds++
        await site.expectWithin(isStrict ? 0 : 1 / 3)
        if (!isStrict) await makeRoom(site)
      }
      expect(strictRounds).to.be.above(0)
      await site.expectNoLeak()
    } finally {
      const alone = `${site.timesAlone()} times a server was without Redis`
      console.log(
        `      ${happened.length} faults, ${strictRounds} rounds with Redis all the time, ${alone}`,
      )
      console.log(`      the last faults: ${happened.slice(-12).join('; ')}`)
      await site.close()
    }
  })
})
