import { expect } from 'chai'
import { isFileServiceError } from '../../src/model/errors.ts'
import {
  requireComplete,
  requireLength,
  requireOffset,
  createUploadQueue,
  createPublishedUploads,
  mostPublished,
  type PublishedUploads,
} from '../../src/model/upload-rules.ts'
import { thrownCode } from '../rejection.ts'

const plan = { name: 'a', expiresAfterMs: 1 }
const upload = { offset: 10, plan }
const longer = { offset: 10, plan: { ...plan, length: 20 } }
const published = { ...upload, published: true }

describe('requireOffset', () => {
  it('takes the offset of an upload that is not published, and no other one', () => {
    requireOffset(upload, 10)
    for (const offset of [0, 9, 11]) {
      expect(thrownCode(() => requireOffset(upload, offset))).to.equal('upload-conflict')
    }
    expect(thrownCode(() => requireOffset(published, 10))).to.equal('upload-conflict')
  })
})

describe('requireLength', () => {
  it('takes any length from the offset on where none is known', () => {
    for (const length of [10, 11, 100]) requireLength(upload, length)
    expect(thrownCode(() => requireLength(upload, 9))).to.equal('upload-conflict')
  })

  it('takes the length that is known, and that of what is published, and no other one', () => {
    requireLength(longer, 20)
    requireLength(published, 10)
    for (const length of [9, 11, 19, 21]) {
      expect(thrownCode(() => requireLength(longer, length))).to.equal('upload-conflict')
      expect(thrownCode(() => requireLength(published, length))).to.equal('upload-conflict')
    }
  })
})

describe('requireComplete', () => {
  it('takes an upload that has its length, or has none', () => {
    requireComplete(upload)
    requireComplete({ ...longer, offset: 20 })
    for (const offset of [19, 21]) {
      expect(thrownCode(() => requireComplete({ ...longer, offset }))).to.equal('upload-conflict')
    }
  })
})

/** Work that ends when it is told to, and notes when it began, was interrupted and ended. */
function createWork(name: string, log: string[]) {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  return {
    end: () => resolve(undefined),
    work: async (interrupted: AbortSignal): Promise<string> => {
      log.push(`${name} begins`)
      if (interrupted.aborted) log.push(`${name} is interrupted`)
      interrupted.addEventListener('abort', () => log.push(`${name} is interrupted`))
      await promise
      log.push(`${name} ends`)
      return name
    },
  }
}

const soon = () => new Promise((resolve) => setImmediate(resolve))

describe('createUploadQueue', () => {
  it('interrupts what runs, and waits until it has ended', async () => {
    const log: string[] = []
    const queue = createUploadQueue()
    const [one, two, three] = ['one', 'two', 'three'].map((name) => createWork(name, log)) as [
      ReturnType<typeof createWork>,
      ReturnType<typeof createWork>,
      ReturnType<typeof createWork>,
    ]
    const running = [one, two, three].map(({ work }) => queue.run('upload', work))
    await soon()
    expect(log).to.deep.equal(['one begins', 'one is interrupted'])
    for (const { end } of [one, two, three]) end()
    expect(await Promise.all(running)).to.deep.equal(['one', 'two', 'three'])
    expect(log).to.deep.equal([
      'one begins',
      'one is interrupted',
      'one ends',
      'two begins',
      'two is interrupted',
      'two ends',
      'three begins',
      'three ends',
    ])
  })

  it('says by whom a call was interrupted', async () => {
    const queue = createUploadQueue()
    const reasons: unknown[] = []
    const first = queue.run('upload', async (interrupted) => {
      await new Promise((resolve) => interrupted.addEventListener('abort', resolve))
      reasons.push(interrupted.reason)
    })
    await soon()
    await queue.interrupt('upload')
    await first
    expect(isFileServiceError(reasons[0], 'upload-conflict')).to.equal(true)
  })

  it('goes on after work that fails', async () => {
    const queue = createUploadQueue()
    const failing = queue.run('upload', () => Promise.reject(new Error('full')))
    const later = queue.run('upload', async () => 'later')
    expect(await failing.catch((error: unknown) => String(error))).to.equal('Error: full')
    expect(await later).to.equal('later')
  })

  it('leaves other uploads alone, and forgets what has ended', async () => {
    const log: string[] = []
    const queue = createUploadQueue()
    const one = createWork('one', log)
    const running = queue.run('alice/1', one.work)
    await queue.run('bob/1', async () => {})
    await queue.interrupt('bob/1')
    expect(log).to.deep.equal(['one begins'])
    expect(queue.isRunning('alice/1')).to.equal(true)
    expect(queue.isRunning('bob/1')).to.equal(false)
    one.end()
    await running
    expect(queue.isRunning('alice/1')).to.equal(false)
  })

  it('ends all when it is closed, and lets nothing begin', async () => {
    const queue = createUploadQueue()
    const ended: string[] = []
    const untilInterrupted = (name: string) => async (interrupted: AbortSignal) => {
      await new Promise((resolve) => interrupted.addEventListener('abort', resolve))
      ended.push(`${name}: ${String(interrupted.reason)}`)
    }
    const running = ['a', 'b'].map((name) => queue.run(name, untilInterrupted(name)))
    await soon()
    const closing = queue.close(new Error('closed'))
    const late = queue.run('c', async () => {}).catch((error: unknown) => String(error))
    await closing
    expect(ended).to.deep.equal(['a: Error: closed', 'b: Error: closed'])
    expect(await late).to.equal('Error: closed')
    await Promise.all(running)
  })
})

/** Adds an upload that was published at `moment`. */
function add(
  uploads: PublishedUploads,
  moment: number,
  { link, customer = 'anna', id = `${customer}-${link}-${moment}` }: Added = {},
): string[] {
  return uploads.add(customer, { id, link, changedAt: moment })
}

interface Added {
  readonly link?: string
  readonly customer?: string
  readonly id?: string
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

describe('createPublishedUploads', () => {
  it('knows what was added, and nothing else', () => {
    const uploads = createPublishedUploads()
    expect(add(uploads, 1, { id: 'one' })).to.deep.equal([])
    expect(uploads.has('one')).to.equal(true)
    expect(uploads.has('two')).to.equal(false)
  })

  for (const [what, most, link] of [
    ["the customer's own", mostPublished.own, undefined],
    ['a link', mostPublished.byLink, 'l'],
  ] as const) {
    it(`names the oldest of ${what}, whatever their order, and counts none twice`, () => {
      const uploads = createPublishedUploads()
      const by = link === undefined ? {} : { link }
      for (const moment of numbers(most).toReversed()) {
        expect(add(uploads, moment, by)).to.deep.equal([])
        expect(add(uploads, moment, by)).to.deep.equal([])
      }
      for (const moment of numbers(3)) {
        const gone = `anna-${link}-${moment}`
        expect(add(uploads, most + moment, by)).to.deep.equal([gone])
        expect(uploads.has(gone)).to.equal(false)
      }
    })
  }

  it('names the oldest of all links if there are too many, and none of the customer', () => {
    const uploads = createPublishedUploads()
    add(uploads, 0)
    const links = mostPublished.byLinks / mostPublished.byLink
    for (const index of numbers(links)) {
      for (const moment of numbers(mostPublished.byLink)) {
        expect(add(uploads, 1000 - index + moment, { link: `l${index}` })).to.deep.equal([])
      }
    }
    const oldest = `anna-l${links - 1}-${1000 - links + 1}`
    expect(add(uploads, 5000, { link: 'other' })).to.deep.equal([oldest])
  })

  it('counts customers apart', () => {
    const uploads = createPublishedUploads()
    for (const moment of numbers(mostPublished.own)) add(uploads, moment)
    expect(add(uploads, 5000, { customer: 'bert' })).to.deep.equal([])
  })

  it('does not know of more than its limit, without those met longest ago', () => {
    const uploads = createPublishedUploads(20)
    for (const moment of numbers(10)) add(uploads, moment)
    for (const moment of numbers(10)) add(uploads, moment, { customer: 'bert' })
    add(uploads, 10)
    expect(add(uploads, 0, { customer: 'carl' })).to.deep.equal([])
    expect(uploads.has('bert-undefined-0')).to.equal(false)
    expect(uploads.has('anna-undefined-0')).to.equal(true)
    expect(uploads.has('carl-undefined-0')).to.equal(true)
  })
})
