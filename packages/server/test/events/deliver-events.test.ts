import { appendFile, copyFile, readFile, rename, rm } from 'node:fs/promises'
import { openFilesIn, until } from '@holdfast/testing'
import { expect } from 'chai'
import { readCursor } from '../../src/events/cursor.ts'
import type { Delivery } from '../../src/events/deliver-events.ts'
import type { Lease } from '../../src/events/lease.ts'
import { serverCursorFile } from '../../src/events/open-webhooks.ts'
import { createDeliveringSite, type DeliveringSite } from './delivering-site.ts'
import {
  accept,
  type Arrival,
  type Behaviour,
  loseAnswer,
  type Receiver,
  refuse,
  stall,
  startReceiver,
} from './receiver.ts'

const days = (count: number) => new Date(Date.now() - count * 86_400_000)

describe('deliverEvents', () => {
  let site: DeliveringSite
  let receiver: Receiver
  const receivers: Receiver[] = []
  beforeEach(async () => {
    site = await createDeliveringSite()
    receiver = await start()
  })
  afterEach(async () => {
    await site.remove()
    for (const each of receivers.splice(0)) await each.close()
  })

  const start = async (behaviour?: Behaviour, port?: number) => {
    const started = await startReceiver(behaviour, port === undefined ? {} : { port })
    receivers.push(started)
    return started
  }
  const files = (arrivals: readonly Arrival[]) => arrivals.map(({ data }) => data['file'])
  const ids = (arrivals: readonly Arrival[]) => arrivals.map(({ id }) => id)
  const accepted = (count: number) =>
    until(
      () => `${count} events are accepted: ${JSON.stringify(files(receiver.accepted))}`,
      () => receiver.accepted.length >= count,
    )

  it('delivers each change once and in order, from the end of the trail on', async () => {
    await site.write(['old'])
    await site.deliver(receiver.url)
    const names = Array.from({ length: 100 }, (_, index) => `${index}`)
    await site.write(names)
    await accepted(100)
    expect(files(receiver.arrivals)).to.deep.equal(names)
    expect(new Set(ids(receiver.arrivals)).size).to.equal(100)
    expect(receiver.arrivals[0]?.source).to.match(/^urn:uuid:/)
    expect(receiver.arrivals[0]?.headers['content-type']).to.match(
      /^application\/cloudevents\+json/,
    )
    expect(site.reports).to.deep.equal([])
  })

  for (const [title, behaviour, report] of [
    ['answers 500', refuse(500), 'failure: status 500'],
    ['redirects', refuse(307, { location: 'http://127.0.0.1:9/' }), 'failure: status 307'],
    ['loses answers', loseAnswer, 'failure: socket hang up'],
    ['is slow', stall, 'failure: no answer within 0.2 s'],
  ] as const) {
    it(`repeats an event with its id before the next one while the receiver ${title}`, async () => {
      receiver.behave(behaviour)
      await site.write([])
      await site.deliver(receiver.url, { timeoutMs: 200 })
      await site.write(['a', 'b'])
      await until('there are three attempts', () => receiver.arrivals.length >= 3)
      expect(new Set(ids(receiver.arrivals)).size).to.equal(1)
      receiver.behave(accept)
      await accepted(2)
      expect(files(receiver.accepted)).to.deep.equal(['a', 'b'])
      expect(receiver.accepted[0]?.id).to.equal(receiver.arrivals[0]?.id)
      expect(site.reports[0]).to.equal(report)
      await until('the recovery is reported', () => site.reports.at(-1)?.startsWith('rec') ?? false)
    })
  }

  it('delivers after the receiver was down, and says how late it is', async () => {
    const { port } = receiver
    await receiver.close()
    receivers.length = 0
    const delivery = await site.deliver(receiver.url)
    await site.write(['a'], days(1))
    await until('an attempt failed', () => delivery.state().failed > 0)
    expect(delivery.state().delayMs).to.be.within(86_400_000, 87_000_000)
    receiver = await start(accept, port)
    await accepted(1)
    await until('nothing waits', () => delivery.state().delayMs === 0)
    expect(delivery.state()).to.include({ accepted: 1, expired: 0, isGone: false })
  })

  it('breaks a request off when it is closed, and sends the event again later', async () => {
    receiver.behave(stall)
    const delivery = await site.deliver(receiver.url)
    await site.write(['a'])
    await until('there is a request', () => receiver.arrivals.length === 1)
    const begin = performance.now()
    await delivery.close()
    expect(performance.now() - begin).to.be.lessThan(5_000)
    receiver.behave(accept)
    await site.deliver(receiver.url)
    await accepted(1)
    expect(new Set(ids(receiver.arrivals)).size).to.equal(1)
  })

  it('waits as long as the receiver asks for', async () => {
    receiver.behave(refuse(503, { 'retry-after': '1' }))
    await site.deliver(receiver.url)
    await site.write(['a'])
    await until('there is an attempt', () => receiver.arrivals.length === 1)
    const begin = performance.now()
    receiver.behave(accept)
    await accepted(1)
    expect(performance.now() - begin).to.be.greaterThan(900)
  })

  it('ends at 410, and begins again where it was when it is started again', async () => {
    receiver.behave(refuse(410))
    const delivery = await site.deliver(receiver.url)
    await site.write(['a'])
    await until('the receiver is gone', () => delivery.state().isGone)
    expect(receiver.arrivals).to.have.length(1)
    await until('the trail is closed', async () => (await openFilesIn(site.directory)).length === 0)
    receiver.behave(accept)
    await site.write(['b'])
    await delivery.close()
    await site.deliver(receiver.url)
    await accepted(2)
    expect(files(receiver.accepted)).to.deep.equal(['a', 'b'])
    expect(site.reports).to.deep.equal(['gone'])
  })

  it('gives up after three days, and says how many events and of what time', async () => {
    receiver.behave(refuse(500))
    const delivery = await site.deliver(receiver.url)
    const [first, last] = [days(6), days(4)]
    await site.write(['a'], first)
    await site.write(
      Array.from({ length: 500 }, () => 'b'),
      last,
    )
    await site.write(['c'], days(2))
    await until('events are given up', () => delivery.state().expired === 501)
    receiver.behave(accept)
    await accepted(2)
    const [omitted, next] = receiver.accepted
    expect(omitted).to.include({ type: 'holdfast.omitted' })
    const times = { since: first.toISOString(), until: last.toISOString() }
    expect(omitted?.data).to.deep.equal({ reason: 'expired', count: 501, ...times })
    expect(next?.data['file']).to.equal('c')
    expect(site.reports).to.include('loss: expired 501')
    await until('the cursor says so', async () => {
      const cursor = await readCursor(serverCursorFile(site.trail))
      return Object.keys(cursor?.losses ?? { any: 1 }).length === 0
    })
  })

  it('delivers old events where the receiver accepts them', async () => {
    const delivery = await site.deliver(receiver.url)
    await site.write(['a'], days(9))
    await accepted(1)
    expect(files(receiver.accepted)).to.deep.equal(['a'])
    expect(delivery.state().expired).to.equal(0)
  })

  it('repeats events with their ids where the cursor is behind, and loses none', async () => {
    const first = await site.deliver(receiver.url)
    await site.write(['a', 'b'])
    await accepted(2)
    // The receiver counts an event before its answer has arrived; without the answer it would be sent again.
    await until('the answers have arrived', () => first.state().accepted === 2)
    await first.close()
    const behind = `${site.trail}.behind`
    await copyFile(serverCursorFile(site.trail), behind)
    const second = await site.deliver(receiver.url)
    await site.write(['c', 'd'])
    await accepted(4)
    await until('the answers have arrived', () => second.state().accepted === 2)
    await second.close()
    await rename(behind, serverCursorFile(site.trail))
    await site.deliver(receiver.url)
    await site.write(['e'])
    await accepted(7)
    expect(files(receiver.accepted)).to.deep.equal(['a', 'b', 'c', 'd', 'c', 'd', 'e'])
    const all = ids(receiver.accepted)
    expect(all.slice(4, 6)).to.deep.equal(all.slice(2, 4))
  })

  it('does not take lines for lost in a file that was read to its end and is gone', async () => {
    const first = await site.deliver(receiver.url)
    await site.write(['a'])
    await accepted(1)
    await rename(site.trail, `${site.trail}-1`)
    await site.write(['b'])
    await accepted(2)
    await until('the cursor knows both files', async () => {
      const { files = [] } = (await readCursor(serverCursorFile(site.trail)))?.position ?? {}
      return files.length === 2 && files[0]?.isRead === true
    })
    await first.close()
    await rm(`${site.trail}-1`)
    await site.deliver(receiver.url)
    await site.write(['c'])
    await accepted(3)
    expect(files(receiver.accepted)).to.deep.equal(['a', 'b', 'c'])
    expect(site.reports).to.deep.equal([])
  })

  it('sends one event for lines that are gone, before the next one', async () => {
    const first = await site.deliver(receiver.url)
    await site.write(['a'])
    await accepted(1)
    await first.close()
    await site.write(['b', 'c'])
    await rm(site.trail)
    await site.write(['d'])
    await site.deliver(receiver.url)
    await accepted(3)
    const [, omitted, next] = receiver.accepted
    expect(omitted?.data).to.include({ reason: 'rotated-away', count: null })
    expect(next?.data['file']).to.equal('d')
    expect(site.reports).to.deep.equal(['loss: rotated-away null'])
  })

  it('keeps files that are removed while the receiver is down, and delivers from them', async () => {
    receiver.behave(refuse(500))
    const delivery = await site.deliver(receiver.url, {
      shortestPauseMs: 600_000,
      longestPauseMs: 5_000,
    })
    await site.write(['a', 'b'])
    await until('an attempt failed', () => delivery.state().failed === 1)
    await rename(site.trail, `${site.trail}-1`)
    await site.write(['c'])
    await until(
      'the new file is open',
      async () => (await openFilesIn(site.directory)).length === 2,
    )
    await rm(`${site.trail}-1`)
    receiver.behave(accept)
    await accepted(3)
    expect(files(receiver.accepted)).to.deep.equal(['a', 'b', 'c'])
  }).timeout(20_000)

  it('delivers by one of several processes, and by the next when that one ends', async () => {
    const first = await site.deliver(receiver.url)
    const second = await site.deliver(receiver.url)
    const names = Array.from({ length: 50 }, (_, index) => `${index}`)
    await site.write(names)
    await accepted(50)
    const counts = () => [first.state().accepted, second.state().accepted]
    await until('all answers have arrived', () => counts().includes(50))
    expect(counts()).to.have.members([50, 0])
    await (counts()[0] === 50 ? first : second).close()
    await site.write(['next'])
    await accepted(51)
    expect(files(receiver.arrivals)).to.deep.equal([...names, 'next'])
  })

  describe('after it has lost the lease', () => {
    let isHeld: boolean
    const lease: Lease = { hold: async () => isHeld, async close() {} }
    beforeEach(() => {
      isHeld = true
    })
    const cursorText = () => readFile(serverCursorFile(site.trail), 'utf8')

    it('leaves the cursor of the next holder as it is', async () => {
      const first = await site.deliver(receiver.url, { lease })
      await site.write(['a', 'b'])
      await until('all answers have arrived', () => first.state().accepted === 2)
      isHeld = false
      await until('it is closed', async () => (await openFilesIn(site.directory)).length === 0)
      const second = await site.deliver(receiver.url)
      await site.write(['c'])
      await until('it is delivered', () => files(receiver.accepted).includes('c'))
      await second.close()
      const saved = await cursorText()
      await first.close()
      expect(await cursorText()).to.equal(saved)
    })

    for (const [title, end] of [
      ['it is closed', (delivery: Delivery) => delivery.close()],
      [
        'an attempt has failed',
        async (delivery: Delivery) => {
          receiver.behave(refuse(500))
          await until('it has', () => delivery.state().failed > 0)
          await until('it ends', async () => (await openFilesIn(site.directory)).length === 0)
        },
      ],
    ] as const) {
      it(`saves nothing when it notices that only as ${title}`, async () => {
        const delivery = await site.deliver(receiver.url, { lease, timeoutMs: 700 })
        await site.write(['a'])
        await until('the answer has arrived', () => delivery.state().accepted === 1)
        receiver.behave(stall)
        await site.write(['b'])
        await until('a request is under way', () => receiver.arrivals.length === 2)
        isHeld = false
        // As if the next holder had saved it.
        await appendFile(serverCursorFile(site.trail), ' ')
        const saved = await cursorText()
        await end(delivery)
        expect(await cursorText()).to.equal(saved)
      })
    }
  })
})
