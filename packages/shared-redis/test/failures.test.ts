import { describeFailureCounter } from '@holdfast/contract'
import { createLoginBrake, type FailureCounter } from '@holdfast/core'
import { createSharedFailureCounter, type SharedFailureCounter } from '../src/index.ts'
import { expect } from 'chai'
import { setTimeout as delay } from 'node:timers/promises'
import { openEngines, until } from './shared-engines.ts'

const keyOf = (key: string) => key

async function openCounters(count: number, windowMs = 60_000) {
  const shared = await openEngines(count)
  const counters = shared.engines.map((engine) =>
    createSharedFailureCounter(engine, { windowMs, keyOf }),
  )
  const counter = (n: number): SharedFailureCounter => {
    const found = counters[n]
    if (found === undefined) throw new RangeError(`There is no counter ${n}`)
    return found
  }
  return { ...shared, counter }
}

/** Messages take a little while. */
const pass = (milliseconds: number) => delay(milliseconds + 100)

describeFailureCounter('the exact counter of two servers', async (windowMs) => {
  const { counter, close } = await openCounters(2, windowMs)
  const read = (key: string) => counter(1).exact.read(key)
  return { counter: { add: (key) => counter(0).add(key), read }, pass, dispose: close }
})

describeFailureCounter('the replica of another server', async (windowMs) => {
  const { counter, settle, close } = await openCounters(2, windowMs)
  const read = async (key: string) => {
    await settle()
    return counter(1).read(key)
  }
  return { counter: { add: (key) => counter(0).add(key), read }, pass, dispose: close }
})

describeFailureCounter('the shared counter without its engine', async (windowMs) => {
  const { counter, engine, redis, close } = await openCounters(1, windowMs)
  await redis.kill()
  await until(() => engine(0).isAway())
  return { counter: counter(0), pass, dispose: close }
})

describe('createSharedFailureCounter', () => {
  let shared: Awaited<ReturnType<typeof openCounters>>
  beforeEach(async () => {
    shared = await openCounters(3)
  })
  afterEach(() => shared.close())

  const failures = async (counter: FailureCounter, key: string) =>
    (await counter.read(key)).failures

  it('has counted a failure for exact reads of all servers when it resolves', async () => {
    const { counter } = shared
    for (let count = 1; count <= 20; count++) {
      await counter(count % 3).add('anna')
      for (const n of [0, 1, 2]) expect(await failures(counter(n).exact, 'anna')).to.equal(count)
    }
  })

  it('loses and doubles none that several servers count at once', async () => {
    const { counter, settle } = shared
    await Promise.all(Array.from({ length: 300 }, (_, n) => counter(n % 3).add('anna')))
    await settle()
    for (const n of [0, 1, 2]) {
      expect(await failures(counter(n).exact, 'anna')).to.equal(300)
      expect(counter(n).read('anna').failures).to.equal(300)
    }
  })

  it('reads its replica at once', async () => {
    const { counter, settle } = shared
    await counter(0).add('anna')
    expect(counter(0).read('anna').failures).to.equal(1)
    await settle()
    expect(counter(1).read('anna').failures).to.equal(1)
  })

  it('reports its failures and those of others, each before they resolve or when they arrive', async () => {
    const { counter, settle } = shared
    const reported: [string, number][][] = [[], []]
    for (const n of [0, 1]) {
      counter(n).onFailure(({ key, failures: count }) => reported[n]?.push([key, count]))
    }
    await counter(0).add('anna')
    await counter(0).add('anna')
    expect(reported[0]).to.deep.equal([
      ['anna', 1],
      ['anna', 2],
    ])
    await settle()
    expect(reported[1]).to.deep.equal(reported[0])
    expect(counter(1).all()).to.have.length(1)
  })

  it('counts on without the engine, and adds what it has counted when that is back', async () => {
    const { counter, engine, redis } = shared
    await counter(0).add('anna')
    process.kill(redis.pid(), 'SIGSTOP')
    try {
      await counter(0).add('anna')
      await until(() => engine(0).isAway())
      await counter(0).add('anna')
      await counter(0).add('bert')
      for (const reading of [counter(0), counter(0).exact]) {
        expect(await failures(reading, 'anna')).to.equal(3)
        expect(await failures(reading, 'bert')).to.equal(1)
      }
    } finally {
      process.kill(redis.pid(), 'SIGCONT')
    }
    await until(() => [0, 1, 2].every((n) => !engine(n).isAway()))
    // Not two failures for the `add` whose answer was lost: the engine may have done it.
    await until(async () => (await failures(counter(1).exact, 'anna')) === 3)
    await until(async () => (await failures(counter(1).exact, 'bert')) === 1)
    await delay(1_500)
    expect(await failures(counter(2).exact, 'anna')).to.equal(3)
    expect(await failures(counter(0).exact, 'anna')).to.equal(3)
  })

  it('gives an engine that has lost its data what the servers know, and adds what failed meanwhile', async () => {
    const { counter, engine, redis, settle } = shared
    for (let count = 0; count < 5; count++) await counter(count % 3).add('anna')
    await settle()
    const before = engine(0).history()
    await redis.kill()
    await until(() => [0, 1, 2].every((n) => engine(n).isAway()))
    await counter(0).add('anna')
    await counter(1).add('anna')
    await redis.startAgain()
    await until(() => [0, 1, 2].every((n) => !engine(n).isAway()))
    expect(engine(0).history()).to.not.equal(before)
    for (const n of [0, 1, 2]) {
      await until(async () => (await failures(counter(n).exact, 'anna')) === 7)
    }
  })

  it('says how many servers count with it', async () => {
    const { counter, open, engine } = shared
    await until(() => counter(0).exact.sharers?.() === 3)
    await open()
    await until(() => counter(0).sharers?.() === 4 && engine(0).servers.count() === 4)
  })
})

describe('createLoginBrake with the exact counter of three servers', () => {
  let shared: Awaited<ReturnType<typeof openCounters>>
  beforeEach(async () => {
    shared = await openCounters(3)
    await until(() => shared.engines.every(({ servers }) => servers.count() === 3))
  })
  afterEach(() => shared.close())

  /** Makes 100 wrong guesses on each server, and returns how many were verified. */
  const guess = async (login: (n: number) => { name: string; address: string }) => {
    let verified = 0
    const guesses = [0, 1, 2].flatMap((server) => {
      const brake = createLoginBrake({ counter: shared.counter(server).exact })
      return Array.from({ length: 100 }, (_, n) =>
        brake.attempt(login(n), async () => {
          verified++
          await delay(20)
          return false
        }),
      )
    })
    await Promise.allSettled(guesses)
    return verified
  }
  const isRight = (server: number, name: string, address: string) =>
    createLoginBrake({ counter: shared.counter(server).exact }).attempt(
      { name, address },
      async () => true,
    )

  it('verifies about as many parallel guesses of an address as one server would', async () => {
    const verified = await guess((n) => ({ name: `name ${n}`, address: '192.0.2.1' }))
    // At most 32 if all verifications take equally long. Here the machine is busy.
    expect(verified).to.be.within(30, 45)
    for (const server of [0, 1, 2]) {
      expect(await isRight(server, 'name 1', '192.0.2.2')).to.equal(true)
    }
  })

  it('verifies about as many parallel guesses on a name from few addresses as one server would', async () => {
    const verified = await guess((n) => ({ name: 'anna', address: `192.0.2.${n % 2}` }))
    expect(verified).to.be.within(10, 10 + 2 * 3 + 5)
    expect(await isRight(2, 'anna', '198.51.100.1')).to.equal(true)
  })
})

describe('createLoginBrake with the outer counter, around one with the exact counter', () => {
  let shared: Awaited<ReturnType<typeof openCounters>>
  beforeEach(async () => {
    shared = await openCounters(2)
    await until(() => shared.engines.every(({ servers }) => servers.count() === 2))
  })
  afterEach(() => shared.close())

  /** Logins of one server, which remembers the password `known`. */
  const openLogins = (server: number) => {
    const { outer, exact } = shared.counter(server)
    const [around, inner] = [outer, exact].map((counter) => createLoginBrake({ counter }))
    let verified = 0
    const verify = async (password: string) => {
      verified++
      await delay(5)
      return password === 'right'
    }
    const login = async (password: string, address = '192.0.2.1', name = 'anna') => {
      const attempt = { name, address, password }
      return around?.attempt(attempt, () =>
        password === 'known' ? true : (inner?.attempt(attempt, () => verify(password)) ?? false),
      )
    }
    return { login, verified: () => verified }
  }

  it('counts each guess once, and refuses as many on all servers as on one', async () => {
    const all = [openLogins(0), openLogins(1)]
    const guesses = all.flatMap(({ login }) =>
      Array.from({ length: 50 }, (_, n) => login(`guess ${n}`, '192.0.2.1', `name ${n}`)),
    )
    await Promise.allSettled(guesses)
    const verified = all.reduce((sum, logins) => sum + logins.verified(), 0)
    // At most 31 if all verifications take equally long. Here the machine is busy.
    expect(verified).to.be.within(30, 45)
    const counted = await shared.counter(0).exact.read('address 192.0.2.1')
    expect(counted.failures).to.equal(verified)
    for (const { login } of all) {
      expect(await login('right', '192.0.2.2')).to.equal(true)
      const refused = await login('known').catch((error: unknown) => String(error))
      expect(refused).to.contain('Too many failed logins')
    }
  })

  it('asks no server for a remembered password', async () => {
    const { engine } = shared
    let asked = 0
    const run = engine(0).run.bind(engine(0))
    engine(0).run = (...args) => {
      asked++
      return run(...args)
    }
    const { login } = openLogins(0)
    for (let n = 0; n < 10; n++) expect(await login('known')).to.equal(true)
    expect(asked).to.equal(0)
    expect(await login('right')).to.equal(true)
    expect(asked).to.equal(1)
  })
})
