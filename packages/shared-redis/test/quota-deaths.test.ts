import { Readable } from 'node:stream'
import { expect } from 'chai'
import { FileServiceError, type BlobStore, type Customer, type QuotaClaim } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { openEngine, script, type Engine, type Script } from '../src/index.ts'
import { startRedis, type RunningRedis } from '@holdfast/testing/redis'
import {
  abortCountScript,
  beginCountScript,
  endCountScript,
  leaveScript,
  lockNameScript,
  syncScript,
} from '../src/quotas/quota-scripts.ts'
import {
  simulateServers,
  type SimulatedServer,
  type SimulatedServers,
} from './support/simulated-servers.ts'
import { until } from './shared-engines.ts'

const alice: Customer = { name: 'alice', quota: 1_000, maxFiles: 6_400 }

const readScript = script(`return redis.call('HGETALL', KEYS[1])`)
const setScript = script(`return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])`)
const wipeScript = script(`return redis.call('DEL', KEYS[1], KEYS[2])`)

const is = (one: Script, other: Script) => one.sha1 === other.sha1

describe('openSharedQuotas with servers that die', () => {
  let redis: RunningRedis
  let base: Engine
  let store: BlobStore
  let servers: SimulatedServers
  let time = 0
  const errors: unknown[] = []

  before(async () => {
    redis = await startRedis()
    base = await openEngine({ url: redis.url, leaseMs: 60_000, timeoutMs: 5_000 })
  })
  beforeEach(() => {
    time = 0
    store = createMemoryBlobStore()
    servers = simulateServers(base, store, {
      now: () => time,
      holdMs: 10_000,
      onError: (error) => void errors.push(error),
    })
  })
  afterEach(async () => {
    await servers.close()
    await base.run(wipeScript, accountKeys())
    errors.length = 0
  })
  after(async () => {
    await base.close()
    await redis.stop()
  })

  const accountKeys = () => [base.key('quota', 'alice'), base.key('uploads', 'alice')]

  /** The fields of the account. */
  const account = async (): Promise<ReadonlyMap<string, number>> => {
    const rows = (await base.run(readScript, accountKeys())) as string[]
    const fields = new Map<string, number>()
    for (let at = 0; at < rows.length; at += 2) fields.set(rows[at] ?? '', Number(rows[at + 1]))
    return fields
  }
  const reservedBytes = (fields: ReadonlyMap<string, number>) =>
    [...fields].reduce((all, [field, value]) => all + (field.startsWith('A:') ? value : 0), 0)
  /** Bytes that are stored or reserved. */
  const counted = async () => {
    const fields = await account()
    return (fields.get('b') ?? 0) + (fields.get('t') ?? 0) + reservedBytes(fields)
  }
  const accountOf = ({ shared }: SimulatedServer) => shared.accounts.open(alice, 0)
  const flush = async (server: SimulatedServer) => accountOf(server).shared?.flush()
  const storedBytes = async () => (await store.usage('alice')).bytes
  const put = async (to: BlobStore, name: string, size: number) =>
    to.put({ customer: 'alice', name }, Readable.from([new Uint8Array(size)]))
  const codeOf = async (work: Promise<unknown>) =>
    work.then(
      () => 'done',
      (error: unknown) => {
        if (error instanceof FileServiceError) return error.code
        return error instanceof Error ? error.message : 'failed'
      },
    )
  const publish = async (
    { store: own }: SimulatedServer,
    claim: QuotaClaim,
    name: string,
    size: number,
  ) => {
    try {
      await claim.grow(size)
      await claim.prepare()
      await put(own, name, size)
      claim.settle()
    } finally {
      claim.end()
    }
  }
  const upload = async (server: SimulatedServer, name: string, size: number) =>
    publish(server, await server.keeper.claim(alice, name, size), name, size)
  const pair = () => [servers.open(), servers.open()] as const

  it('gives a server that returns no more than is free', async () => {
    const [one, two] = pair()
    const lost = await one.keeper.claim(alice, 'a', 900)
    one.suspend()
    one.isDead = true
    const taken = await two.keeper.claim(alice, 'b', 900)
    one.resume()
    one.isDead = false
    await flush(one)
    await flush(one)
    expect(await counted()).to.be.at.most(1_000)
    expect(await codeOf(publish(one, lost, 'a', 900))).to.equal('quota-exceeded')
    await publish(two, taken, 'b', 900)
    expect(await storedBytes()).to.equal(900)
  })

  it('keeps what was stored after a report whose answer was lost', async () => {
    const [one] = pair()
    await upload(one, 'first', 10)
    await flush(one)
    one.lost = 'answer'
    await upload(one, 'a', 5)
    await flush(one)
    await upload(one, 'b', 5)
    one.lost = undefined
    await until(async () => (await account()).get('b') === 15)
    const fields = await account()
    expect(fields.get('A:server-0') ?? 0).to.be.at.least(5)
  })

  it('uses no space of a deleted file before the deletion is reported', async () => {
    const [one, two] = pair()
    await upload(one, 'x', 900)
    await flush(one)
    await flush(two)
    const { promise: reported, resolve: report } = Promise.withResolvers<undefined>()
    one.beforeRun = async (what) => {
      if (is(what, syncScript)) await reported
    }
    const deleted = one.keeper.free(alice, 'x', async () =>
      one.store.delete({ customer: 'alice', name: 'x' }).then(() => true),
    )
    await until(async () => (await storedBytes()) === 0)
    // The others count it as gone, and use what it frees.
    const others = upload(two, 'y', 950)
    await until(async () => (await storedBytes()) === 950)
    const local = upload(one, 'z', 500)
    const first = await Promise.race([
      codeOf(local),
      new Promise((resolve) => setTimeout(() => resolve('waits'), 100)),
    ])
    report(undefined)
    await Promise.all([deleted, others, codeOf(local)])
    expect(first).to.equal('waits')
    expect(await storedBytes()).to.equal(950)
  })

  it('subtracts a file once that a dead server was about to replace and another has deleted', async () => {
    const [one, two] = pair()
    await upload(two, 'x', 500)
    await flush(two)
    const claim = await one.keeper.claim(alice, 'x', 500)
    await claim.grow(500)
    await claim.prepare()
    one.suspend()
    one.isDead = true
    await two.keeper.free(alice, 'x', async () =>
      two.store.delete({ customer: 'alice', name: 'x' }).then(() => true),
    )
    expect(await counted()).to.be.at.least(500)
    await put(store, 'x', 500)
    one.isDead = false
    one.resume()
    // It reports that it lives, before it knows the outcome.
    await flush(one)
    claim.settle()
    claim.end()
    await flush(one)
    expect((await account()).get('b')).to.be.at.least(500)
  })

  it('is not sure of a deletion for which the name could not be locked', async () => {
    const [one, two] = pair()
    await upload(one, 'x', 500)
    await flush(one)
    one.beforeRun = (what) => {
      if (is(what, lockNameScript)) one.lost = 'question'
    }
    await one.keeper.free(alice, 'x', async () => {
      one.lost = undefined
      return one.store.delete({ customer: 'alice', name: 'x' }).then(() => true)
    })
    expect((await account()).get('b')).to.equal(500)
    expect(await codeOf(two.keeper.claim(alice, 'y', 1_000))).to.equal('done')
  })

  it('keeps what a dead server may have written of an upload in pieces', async () => {
    const [one, two] = pair()
    const claim = await one.keeper.claim(alice, 'a', 500, 'piece')
    await claim.grow(500)
    one.suspend()
    one.isDead = true
    await flush(two)
    expect(await counted()).to.be.at.least(500)
    expect(await codeOf(two.keeper.claim(alice, 'b', 600))).to.equal('quota-exceeded')
    one.isDead = false
    one.resume()
    claim.stage(500)
    claim.end()
    await flush(one)
    expect((await account()).get('t')).to.equal(500)
    expect(await counted()).to.be.at.most(1_000)
  })

  it('publishes nothing by an old answer after the others have given up its space', async () => {
    const [one, two] = pair()
    const claim = await one.keeper.claim(alice, 'a', 10)
    await flush(one)
    one.suspend()
    one.isDead = true
    await flush(two)
    await flush(two)
    time += 10_000
    expect(await codeOf(two.keeper.claim(alice, 'b', 1_000))).to.equal('done')
    one.isDead = false
    one.resume()
    expect(await codeOf(publish(one, claim, 'a', 10))).to.be.oneOf(['quota-exceeded', 'overloaded'])
  })

  it('holds anew what a server may publish that dies again', async () => {
    const [one, two, three] = [servers.open(), servers.open(), servers.open()]
    await upload(one, 'first', 1)
    one.isDead = true
    await flush(two)
    await flush(two)
    one.isDead = false
    await flush(one)
    const claim = await one.keeper.claim(alice, 'a', 500)
    await claim.grow(500)
    await claim.prepare()
    time += 10_000
    one.suspend()
    one.isDead = true
    await flush(three)
    await flush(three)
    await codeOf(two.keeper.claim(alice, 'b', 900))
    expect(await counted()).to.be.at.least(501)
    await put(store, 'a', 500)
    one.isDead = false
    one.resume()
    claim.settle()
    claim.end()
  })

  it('lets others count after a count whose end was lost', async () => {
    const [one, two] = pair()
    await upload(one, 'a', 100)
    await flush(one)
    await flush(two)
    one.beforeRun = (what) => {
      if (is(what, endCountScript) || is(what, abortCountScript)) one.lost = 'question'
    }
    await codeOf(one.keeper.claim(alice, 'b', 950))
    one.beforeRun = () => {}
    one.lost = undefined
    expect(await codeOf(two.keeper.claim(alice, 'b', 950))).to.equal('quota-exceeded')
  })

  it('lets others count at first after a first count whose end was lost', async () => {
    const [one, two] = pair()
    one.beforeRun = (what) => {
      if (is(what, endCountScript) || is(what, abortCountScript)) one.lost = 'question'
    }
    await codeOf(one.keeper.claim(alice, 'b', 2_000))
    one.beforeRun = () => {}
    one.lost = undefined
    expect(await codeOf(two.keeper.claim(alice, 'b', 950))).to.equal('done')
  })

  it('counts as often as needed where the account is lost during a count', async () => {
    const [one] = pair()
    await upload(one, 'a', 100)
    await base.run(setScript, accountKeys(), ['cn', '1000'])
    await flush(one)
    let counts = 0
    one.beforeRun = async (what) => {
      if (is(what, beginCountScript) && counts++ === 0) await base.run(wipeScript, accountKeys())
    }
    expect(await codeOf(one.keeper.claim(alice, 'b', 950))).to.equal('quota-exceeded')
    expect(counts).to.be.below(6)
  })

  it('gives back what a dead server had reserved where the account is opened seldom', async () => {
    await servers.close()
    servers = simulateServers(base, store, { now: () => time, holdMs: 10_000, idleMs: 20 })
    const [one, two] = pair()
    const claim = await one.keeper.claim(alice, 'a', 900)
    await claim.grow(900)
    await claim.prepare()
    one.kill()
    expect(await codeOf(two.keeper.claim(alice, 'b', 900))).to.equal('quota-exceeded')
    time += 100
    await until(async () => two.shared.accounts.customers().length === 0)
    time += 10_000
    expect(await codeOf(two.keeper.claim(alice, 'b', 900))).to.equal('done')
  })

  it('counts a file that is renamed beside a count which finds it under neither name', async () => {
    let isMissed = false
    const stored = store
    store = {
      ...stored,
      usage: async (customer) => (isMissed ? { blobs: 0, bytes: 0 } : stored.usage(customer)),
    }
    await servers.close()
    servers = simulateServers(base, store, { now: () => time, holdMs: 10_000 })
    const [one, two] = pair()
    await upload(one, 'z', 900)
    await flush(one)
    await flush(two)
    const [begun, renamed] = [
      Promise.withResolvers<undefined>(),
      Promise.withResolvers<undefined>(),
    ]
    two.beforeRun = async (what) => {
      if (!is(what, endCountScript)) return
      begun.resolve(undefined)
      await renamed.promise
    }
    isMissed = true
    const claimed = codeOf(two.keeper.claim(alice, 'y', 900))
    await begun.promise
    isMissed = false
    const rename = async () => {
      await put(store, 'a', 900)
      return store.delete({ customer: 'alice', name: 'z' })
    }
    await one.keeper.free(alice, 'a', rename, 'z')
    await flush(one)
    renamed.resolve(undefined)
    expect(await claimed).to.equal('quota-exceeded')
    expect(await counted()).to.be.at.least(900)
  })

  it('forgets a dead server that had nothing reserved', async () => {
    const [one, two] = pair()
    await upload(one, 'a', 100)
    await accountOf(one).shared?.flush()
    expect(await codeOf(two.keeper.claim(alice, 'b', 900))).to.equal('done')
    expect((await account()).get('A:server-0')).to.equal(undefined)
    one.kill()
    await flush(two)
    time += 10_000
    expect(await codeOf(two.keeper.claim(alice, 'c', 900))).to.equal('quota-exceeded')
    const fields = [...(await account()).keys()].filter((field) => field.endsWith(':server-0'))
    expect(fields).to.deep.equal([])
  })

  it('counts bytes that may have come to an upload of which another server knows more', async () => {
    const [one, two] = pair()
    const first = await one.keeper.claim(alice, 'a', 100, 'piece')
    await first.grow(100)
    first.stage(100)
    first.end()
    await flush(one)
    const second = await two.keeper.claim(alice, 'a', 50, 'piece')
    await second.grow(50)
    second.end()
    await flush(two)
    expect((await account()).get('t')).to.equal(150)
  })

  it('leaves an account in the end that could not be left at first', async () => {
    // Several times the delay of a report: if they were equal, each look would meet a report under way, and take the account for used.
    const idleMs = 100
    const short = simulateServers(base, store, { now: () => time, idleMs })
    const one = short.open()
    await upload(one, 'a', 100)
    await flush(one)
    expect((await account()).get('A:server-0')).to.be.above(0)
    let leaves = 0
    one.beforeRun = (what) => {
      if (!is(what, leaveScript)) return
      one.lost = leaves++ === 0 ? 'question' : undefined
    }
    time += idleMs
    await until(() => leaves > 0)
    one.lost = undefined
    await until(async () => (await account()).get('o:server-0') === undefined)
    await upload(one, 'b', 100)
    await flush(one)
    expect((await account()).get('b')).to.equal(200)
    await short.close()
  })

  it('frees the slot of an upload whose end was lost', async () => {
    const [one, two] = pair()
    const failing = one.shared.uploads.begin(alice.name, 1, async () => {
      one.lost = 'question'
      throw new Error('It cannot begin')
    })
    expect(await codeOf(failing)).to.equal('It cannot begin')
    one.lost = undefined
    const upload = async () => two.shared.uploads.begin(alice.name, 1, async () => ({ id: 'u' }))
    await until(async () => (await codeOf(upload())) === 'done')
  })

  it('reserves nothing for a publication that could not begin', async () => {
    const [one, two] = pair()
    const claim = await one.keeper.claim(alice, 'a', 500)
    await flush(one)
    const usage = store.usage.bind(store)
    one.beforeRun = async (what) => {
      if (!is(what, syncScript)) return
      await base.run(wipeScript, accountKeys())
    }
    store.usage = async () => Promise.reject(new Error('The store cannot count'))
    expect(await codeOf(publish(one, claim, 'a', 500))).to.equal('The store cannot count')
    store.usage = usage
    one.beforeRun = () => {}
    await flush(one)
    one.isDead = true
    expect(await codeOf(two.keeper.claim(alice, 'b', 900))).to.equal('done')
  })
})
