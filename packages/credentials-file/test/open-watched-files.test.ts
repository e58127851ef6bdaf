import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  makeTemporaryDirectory,
  rejection,
  type TemporaryDirectory,
  until,
} from '@holdfast/testing'
import { expect } from 'chai'
import {
  openWatchedFiles,
  type Reading,
  type WatchedFiles,
  type WatchedFilesOptions,
} from '../src/open-watched-files.ts'

const refusal = (reason: string, isFinal = false): Reading<string, Error> => ({
  refusal: { error: new Error(reason), reason, isFinal },
})

describe('openWatchedFiles', () => {
  let directory: TemporaryDirectory
  let reading: Reading<string, Error>
  let readings: number
  let events: string[]
  let watched: WatchedFiles<string> | undefined
  beforeEach(async () => {
    directory = await makeTemporaryDirectory()
    reading = { value: 'one' }
    readings = 0
    events = []
    watched = undefined
  })
  afterEach(async () => {
    await watched?.close()
    await directory.remove()
  })

  const path = () => join(directory.path, 'file')
  const open = async (options: Partial<WatchedFilesOptions<string, Error>> = {}) => {
    watched = await openWatchedFiles<string, Error>([path()], {
      read: async () => {
        readings++
        return reading
      },
      pollIntervalMs: 0,
      onTaken: (next, before) => events.push(`${before} -> ${next}`),
      onRefused: (error) => events.push(error.message),
      ...options,
    })
    return watched
  }

  it('rejects with the refusal when there is no value yet', async () => {
    reading = refusal('wrong')
    expect((await rejection(open())).message).to.equal('wrong')
  })

  it('takes another value, and is already at it when it says so', async () => {
    let seen: string | undefined
    const files = await open({ onTaken: () => (seen = watched?.current()) })
    reading = { value: 'two' }
    expect(await files.reload()).to.equal(true)
    expect([files.current(), seen]).to.deep.equal(['two', 'two'])
  })

  it('keeps the value while the files are refused, and says since when', async () => {
    const files = await open()
    reading = refusal('wrong')
    expect(await files.reload()).to.equal(false)
    const since = files.refusedSince()
    expect(since).to.be.instanceOf(Date)
    reading = refusal('still wrong')
    expect(await files.reload()).to.equal(false)
    expect(files.refusedSince()).to.equal(since)
    expect(files.current()).to.equal('one')
    reading = { value: 'one' }
    expect(await files.reload()).to.equal(true)
    expect(files.refusedSince()).to.equal(undefined)
    expect(events).to.deep.equal(['wrong', 'still wrong', 'one -> one'])
  })

  it('reads once at a time, however often it is asked', async () => {
    let running = 0
    const files = await open({
      async read() {
        expect(++running).to.equal(1)
        await new Promise((resolve) => setImmediate(resolve))
        running--
        return { value: 'two' }
      },
    })
    expect(await Promise.all([files.reload(), files.reload(), files.reload()])).to.deep.equal([
      true,
      true,
      true,
    ])
  })

  it('reads on after a callback that has thrown', async () => {
    const files = await open({
      onRefused: () => {
        throw new Error('from the callback')
      },
    })
    reading = refusal('wrong')
    expect((await rejection(files.reload())).message).to.equal('from the callback')
    reading = { value: 'two' }
    expect(await files.reload()).to.equal(true)
  })

  describe('watching', () => {
    for (const [callback, next] of [
      ['onTaken', { value: 'two' }],
      ['onRefused', refusal('wrong')],
    ] as const) {
      it(`warns of an ${callback} that throws, and looks again`, async () => {
        const warnings: Error[] = []
        const onWarning = (warning: Error) => void warnings.push(warning)
        process.on('warning', onWarning)
        try {
          const files = await open({
            pollIntervalMs: 5,
            [callback]: () => {
              if (reading === next) throw new Error('from the callback')
            },
          })
          reading = next
          await writeFile(path(), 'a')
          await until('it warns', () =>
            warnings.some(
              ({ name, message }) =>
                name === 'WatchedFilesWarning' && message.includes('from the callback'),
            ),
          )
          reading = { value: 'three' }
          await until('the next value is taken', () => files.current() === 'three')
        } finally {
          process.off('warning', onWarning)
        }
      })
    }

    it('reports a refusal once, and another one again', async () => {
      await writeFile(path(), 'a')
      await open({ pollIntervalMs: 5 })
      reading = refusal('wrong')
      await until('it is reported', () => events.length === 1)
      const before = readings
      await until('it has looked again', () => readings > before + 2)
      reading = refusal('otherwise wrong')
      await until('that is reported', () => events.length === 2)
      expect(events).to.deep.equal(['wrong', 'otherwise wrong'])
    })

    it('reads no more what stands still, also where its times are ahead of the clock', async () => {
      await writeFile(path(), 'a')
      const { now } = Date
      Date.now = () => now() - 3_600_000
      try {
        await open({ pollIntervalMs: 5 })
        await delay(300)
        expect(readings).to.be.lessThan(5)
      } finally {
        Date.now = now
      }
    })

    it('waits with a report for as many looks as it is to', async () => {
      await writeFile(path(), 'a')
      const found: string[] = []
      await open({
        pollIntervalMs: 5,
        looksBeforeRefusal: 3,
        async read() {
          readings++
          // Each refusal but the last is gone before the third look at it.
          const reason = readings < 8 ? `${Math.floor(readings / 2)}` : 'last'
          found.push(reason)
          return readings === 1 ? { value: 'one' } : refusal(reason)
        },
      })
      await until('one is reported', () => events.length === 1)
      expect(events).to.deep.equal(['last'])
      expect(found.filter((reason) => reason === 'last').length).to.be.at.least(3)
    })
  })
})
