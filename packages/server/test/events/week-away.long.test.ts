import { readdir, rename } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { createDeliveringSite, type DeliveringSite } from './delivering-site.ts'
import { accept, type Receiver, refuse, startReceiver } from './receiver.ts'

const dayMs = 86_400_000
const days = 7
/** How many changes a day has. Those of the last days are sent one by one, so that these are fewer. */
const perOldDay = 20_000
const perNewDay = 500

describe('deliverEvents to a receiver that is away for a week', function () {
  this.timeout(240_000)
  let site: DeliveringSite
  let receiver: Receiver
  beforeEach(async () => {
    site = await createDeliveringSite()
    receiver = await startReceiver(refuse(503))
  })
  afterEach(async () => {
    await site.remove()
    await receiver.close()
  })

  it('reports what is older than three days in one event, and sends the rest in order, within little memory', async () => {
    const begin = Date.now() - days * dayMs
    // The files of a trail are in the order of their first lines. A first line of today would come after all other files.
    await site.write(['first'], new Date(begin))
    const delivery = await site.deliver(receiver.url, { longestPauseMs: 200 })
    const descriptors = async () => (await readdir('/proc/self/fd')).length
    const before = { memory: process.memoryUsage().rss, descriptors: await descriptors() }
    const newest: string[] = []
    let older = 0
    for (let day = 0; day < days; day++) {
      // The margin keeps every change on its side of the limit of three days while the test runs.
      const isOld = day < days - 3
      const count = isOld ? perOldDay : perNewDay
      const margin = isOld ? 0 : dayMs / 2
      const names = Array.from({ length: count }, (_, index) => `${day}-${index}`)
      await site.write(names, new Date(begin + day * dayMs + margin))
      if (isOld) older += count
      else newest.push(...names)
      await delay(300)
      if (day < days - 1) await rename(site.trail, `${site.trail}.${day}`)
      if (day < days - 1) await delay(1_200)
    }
    expect(receiver.arrivals.length).to.be.greaterThan(0)
    // Old changes are given up after failures only: once the receiver accepts, those that are left would be sent.
    await until(
      () => `${delivery.state().expired} of ${older} changes are given up`,
      () => delivery.state().expired >= older,
      120_000,
    )
    receiver.behave(accept)
    await until(
      () => `${receiver.accepted.length} of ${newest.length + 1} events are accepted`,
      () => receiver.accepted.some(({ data }) => data['file'] === newest.at(-1)),
      120_000,
    )
    const omitted = receiver.accepted.filter(({ type }) => type === 'holdfast.omitted')
    const counts = omitted.map(({ data }) => Number(data['count']))
    expect(counts.reduce((sum, count) => sum + count, 0)).to.be.within(older, older + 1)
    const files = receiver.accepted.flatMap(({ data }) => data['file'] ?? [])
    expect(files.filter((file) => file !== 'first')).to.deep.equal(newest)
    expect(delivery.state().expired).to.be.within(older, older + 1)
    expect(site.reports.filter((report) => report.startsWith('loss: rotated'))).to.deep.equal([])
    const grown = (process.memoryUsage().rss - before.memory) / 1024 ** 2
    expect(grown, 'MiB').to.be.lessThan(150)
    expect((await descriptors()) - before.descriptors).to.be.lessThan(days + 5)
  })
})
