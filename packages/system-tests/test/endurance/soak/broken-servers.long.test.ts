// It soaks servers that are broken on purpose.
import { randomUUID } from 'node:crypto'
import { compareUtf8, type BlobKey, type BlobStore } from '@holdfast/core'
import { expect } from 'chai'
import { openMemorySite, type Flaw } from './memory-site.ts'
import type { OpenSoakSite } from './soak-site.ts'
import { startSoak, type Soak } from './start-soak.ts'
import { SoakViolation } from './violation.ts'

/** What a file is, or is told to be, after what was done to it; whichever request comes by first. */
const impossible = /NOT whole|That cannot be|At rest/

const flaws: Readonly<Record<string, readonly [notices: RegExp, flaw: Flaw]>> = {
  'loses an upload that it has acknowledged': [
    impossible,
    (store) => ({
      put: everyThird(
        (key, content, options) => store.put(key, content, options),
        async (key, content) => {
          const size = (await collect(content)).length
          // A tag of its own: the same one twice would be noticed, too, and for another reason.
          return { name: key.name, size, modifiedAt: new Date(), etag: `lost-${randomUUID()}` }
        },
      ),
    }),
  ],
  'goes back to an earlier file once the new one has been seen': [
    impossible,
    (store) => ({ ...goingBack(store) }),
  ],
  'stores the first half of a file': [
    impossible,
    (store) => ({
      async put(key, content, options) {
        const bytes = await collect(content)
        const isLong = bytes.length > 1000
        const kept = isLong ? bytes.subarray(0, bytes.length / 2) : bytes
        return store.put(key, once(kept), options)
      },
    }),
  ],
  "serves another customer's file of the same name": [
    /of customer anna, file .*, whole\. That cannot be|412 .*That cannot be/s,
    (store) => ({
      async open(key, options) {
        const foreign = await store.open({ ...key, customer: 'anna' }, options)
        // Long enough to say whose it is.
        const isClear = options?.range === undefined && (foreign?.info.size ?? 0) > 1000
        return isClear ? foreign : store.open(key, options)
      },
    }),
  ],
  'leaves a name out of its lists': [
    // What a list says of a request under way is believed; its answer, or the next request of whatever kind, is then what cannot be.
    /That cannot be|Yet somebody has seen what it did/,
    (store) => ({
      async *list(customer, options) {
        let count = 0
        for await (const names of store.list(customer, options)) {
          const listed = names.filter(() => ++count !== 3)
          if (listed.length > 0) yield listed
        }
      },
    }),
  ],
  'lists in descending order': [
    /the list is out of order|That cannot be|Yet somebody has seen what it did/,
    (store) => ({
      async *list(customer, options) {
        const names: string[] = []
        for await (const page of store.list(customer, options)) names.unshift(...page.toReversed())
        if (names.length > 0) yield names
      },
    }),
  ],
  'lists a file for longer than it is there': [
    /That cannot be|Yet somebody has seen what it did|a name that cannot be there/,
    (store) => {
      const seen = new Map<string, Set<string>>()
      return {
        async *list(customer, options) {
          const names = seen.get(customer) ?? new Set()
          seen.set(customer, names)
          for await (const page of store.list(customer)) for (const name of page) names.add(name)
          const { prefix = '', after = '', limit = Infinity } = options ?? {}
          const wanted = [...names].filter((name) => name.startsWith(prefix))
          const behind = wanted.filter((name) => compareUtf8(name, after) > 0)
          if (behind.length > 0) yield behind.sort(compareUtf8).slice(0, limit)
        },
      }
    },
  ],
  'replaces a file in a create-only upload': [
    impossible,
    (store) => ({
      stat: async () => undefined,
      put: (key, content, options) => store.put(key, content, { ...options, createOnly: false }),
    }),
  ],
  'says that it has deleted what it keeps': [
    /That cannot be|Yet somebody has seen what it did|a name that cannot be there|At rest/,
    (store) => ({
      delete: everyThird(
        (key: BlobKey) => store.delete(key),
        async (key) => (await store.stat(key)) !== undefined,
      ),
    }),
  ],
  'keeps what has arrived of an upload that broke off': [
    /That cannot be|Yet somebody has seen what it did|At rest/,
    (store) => ({
      async put(key, content, options) {
        const parts: Uint8Array[] = []
        try {
          for await (const part of content) parts.push(part.slice())
        } catch (error) {
          await store.put(key, once(Buffer.concat(parts)), options)
          throw error
        }
        return store.put(key, once(Buffer.concat(parts)), options)
      },
    }),
  ],
  'gives a range that begins one byte too late': [
    /206 \d+ bytes\. That cannot be/,
    (store) => ({
      async open(key, options) {
        const blob = await store.open(key, options)
        if (!blob?.range || options?.range === undefined) return blob
        const { offset, length } = blob.range
        const whole = await store.open(key)
        const bytes = whole ? await collect(whole.content) : Buffer.alloc(0)
        const late = Buffer.concat([bytes, bytes.subarray(0, 1)]).subarray(offset + 1)
        return { ...blob, content: once(late.subarray(0, length)) }
      },
    }),
  ],
  'gives every file the same tag': [
    /which is another's/,
    (store) => {
      const flat = <T extends object | undefined>(info: T) => info && { ...info, etag: 'same' }
      return {
        put: async (...args) => flat(await store.put(...args)),
        stat: async (key) => flat(await store.stat(key)),
        async open(key, options) {
          const blob = await store.open(key, options)
          return blob && { ...blob, info: flat(blob.info) }
        },
      }
    },
  ],
  'forgets some of what a customer has used': [
    /At rest: zoë has used .* and is told/,
    (store) => ({
      async usage(customer) {
        const { blobs, bytes } = await store.usage(customer)
        return { blobs, bytes: Math.floor(bytes / 2) }
      },
    }),
  ],
  fails: [
    // What the soak itself wanted to delete may be seen before.
    /an answer that must not come: (?:500|200 [^]*"statusCode":500)|told "500|cannot be there \("probe of the quota"\)/,
    (store) => ({
      delete: everyThird(
        (key: BlobKey) => store.delete(key),
        async () => {
          throw new Error('broken on purpose')
        },
      ),
    }),
  ],
}

describe('startSoak', function () {
  // On a busy machine it may take long until a client comes by what is wrong.
  this.timeout(120_000)

  it('finds nothing wrong with a sound server in memory', async () => {
    await soak(
      openMemorySite(() => ({})),
      1000,
    ).ended
  })

  it('ends at once, servers and all, when it is interrupted', async () => {
    let isRemoved = false
    const run = soak(async (customers) => {
      const site = await openMemorySite(() => ({}))(customers)
      return { ...site, remove: async () => void (isRemoved = true) }
    })
    run.interrupt()
    const error: unknown = await run.ended.catch((reason: unknown) => reason)
    expect(String(error)).to.equal('Error: Interrupted')
    expect(isRemoved).to.equal(true)
  })

  for (const [flaw, [notices, breakIt]] of Object.entries(flaws)) {
    it(`notices a server that ${flaw}`, async () => {
      const run = soak(openMemorySite(breakIt))
      expectTold(await violationOf(run), notices)
      expect(run.figures()).to.match(/seed \d+$/)
    })
  }

  it('notices a server that has lost at its end what it had acknowledged, and prints the history', async () => {
    const told = await violationOf(soak(openMemorySite(() => ({}), { isForgetful: true })))
    expectTold(told, impossible)
    expectTold(told, /server \d+: (kill|stop)\n/)
  })

  it('notices a server that leaves litter', async () => {
    const run = soak(openMemorySite(() => ({}), { litter: ['a.tmp is left'] }))
    expectTold(await violationOf(run), /At rest: a.tmp is left/)
  })
})

async function violationOf(run: Soak): Promise<string> {
  const violation: unknown = await run.ended.catch((error: unknown) => error)
  expect(violation, run.figures()).to.be.instanceOf(SoakViolation)
  return String(violation)
}

function expectTold(violation: string, notices: RegExp): void {
  expect(notices.test(violation), violation).to.equal(true)
}

function soak(openSite: OpenSoakSite, durationMs = 60_000): Soak {
  const seed = Math.floor(Math.random() * 2 ** 31)
  return startSoak({ seed, durationMs, clients: 6, openSite, calmMs: 400 })
}

/** Does every third call as `flaw` does. */
function everyThird<A extends unknown[], R>(
  sound: (...args: A) => Promise<R>,
  flaw: (...args: A) => Promise<R>,
): (...args: A) => Promise<R> {
  let calls = 0
  return (...args) => (++calls % 3 === 0 ? flaw(...args) : sound(...args))
}

function goingBack(store: BlobStore): Partial<BlobStore> {
  const earlier = new Map<string, Buffer>()
  const idOf = ({ customer, name }: BlobKey) => `${customer}/${name}`
  return {
    async put(key, content, options) {
      const old = await store.open(key)
      if (old) earlier.set(idOf(key), await collect(old.content))
      return store.put(key, content, options)
    },
    async open(key, options) {
      const blob = await store.open(key, options)
      const old = earlier.get(idOf(key))
      earlier.delete(idOf(key))
      if (old) await store.put(key, once(old))
      return blob
    },
  }
}

async function collect(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of content) parts.push(part.slice())
  return Buffer.concat(parts)
}

async function* once(bytes: Uint8Array) {
  yield bytes
}
