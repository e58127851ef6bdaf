import { createMemoryBlobStore } from '@holdfast/core/memory'
import { rejection } from '@holdfast/testing'
import { expect } from 'chai'
import {
  createSharedFailureCounter,
  createSharedLocks,
  createSharedUseCounter,
  examineEngine,
  openEngine,
  openSharedQuotas,
  parseEngineUrl,
  script,
  type Engine,
} from '../src/index.ts'
import { useEngines } from './support/use-engines.ts'

type Wrong = readonly (readonly [options: unknown, words: RegExp])[]

const url = 'redis://127.0.0.1:6379'
const keyOf = (key: string) => key

const wrongEngineOptions: Wrong = [
  [undefined, /Options are missing: openEngine\(\{ url \}\)/],
  [url, /Options must be an object, not a string/],
  [{}, /url is missing: openEngine\(\{ url \}\)/],
  [{ url: new URL(url) }, /url must be a string, not a URL/],
  [{ url, password: 5 }, /password must be a string, not a number/],
  [{ url, ca: Buffer.from('PEM') }, /ca must be a string, not a Buffer/],
  [{ url, leaseMs: '10s' }, /leaseMs must be a number of milliseconds, not the string "10s"/],
  [{ url, leaseMs: 5 }, /leaseMs must be at least 3,000/],
  [{ url, timeoutMs: 0 }, /timeoutMs must be above 0/],
  [{ url, now: 5 }, /now must be a function/],
]

const wrongFactoryOptions: Readonly<
  Record<string, { make: (engine: Engine, options: unknown) => unknown; wrong: Wrong }>
> = {
  openSharedQuotas: {
    make: (engine, options) => openSharedQuotas(engine, createMemoryBlobStore(), options as never),
    wrong: [
      [null, /Options are missing: openSharedQuotas\(engine, store, \{ holdMs \}\)/],
      [{ holdMs: -1 }, /holdMs must be a number of milliseconds, not -1/],
      [{ holdMs: '10m' }, /holdMs must be a number of milliseconds, not the string "10m"/],
      [{ idleMs: -1 }, /idleMs must be a number of milliseconds, not -1/],
      [{ recountAfterMs: NaN }, /recountAfterMs .* not NaN/],
      [{ onError: {} }, /onError must be a function/],
    ],
  },
  createSharedFailureCounter: {
    make: (engine, options) => createSharedFailureCounter(engine, options as never),
    wrong: [
      [
        undefined,
        /Options are missing: createSharedFailureCounter\(engine, \{ windowMs, keyOf \}\)/,
      ],
      [{ keyOf }, /windowMs is missing/],
      [{ windowMs: 1_000 }, /keyOf is missing/],
      [{ windowMs: -1, keyOf }, /windowMs must be a number of milliseconds, not -1/],
      [{ windowMs: 1_000, keyOf: 'sha256' }, /keyOf must be a function, not a string/],
    ],
  },
  createSharedUseCounter: {
    make: (engine, options) => createSharedUseCounter(engine, options as never),
    wrong: [
      [undefined, /Options are missing: createSharedUseCounter\(engine, \{ name, limit \}\)/],
      [{ limit: 5 }, /name is missing/],
      [{ name: 'x' }, /limit is missing/],
      [{ name: 'x', limit: '5' }, /limit must be a number of uses, not the string "5"/],
      [{ name: 'x', limit: 5, repeatMs: -1 }, /repeatMs must be a number of milliseconds, not -1/],
    ],
  },
  createSharedLocks: { make: (engine) => createSharedLocks(engine), wrong: [] },
}

for (const [name, open] of Object.entries({
  openEngine,
  examineEngine: async (options: unknown) => {
    await examineEngine(options as never).next()
  },
})) {
  describe(`${name} with what is wrong`, () => {
    for (const [options, words] of wrongEngineOptions) {
      it(`says ${words.source}`, async () => {
        expect(await rejection(open(options as never))).to.match(words)
      })
    }
  })
}

for (const [name, { make, wrong }] of Object.entries(wrongFactoryOptions)) {
  describe(`${name} with what is wrong`, () => {
    const engines = useEngines()

    for (const [options, words] of wrong) {
      it(`says ${words.source}`, async () => {
        const engine = await engines.open({ url: (await engines.redis()).url })
        expect(() => make(engine, options)).to.throw(words)
      })
    }

    it('refuses what is no engine', () => {
      const given = (engine: unknown) => () => make(engine as Engine, {})
      expect(given(undefined)).to.throw(TypeError, 'engine is missing')
      expect(given(Promise.resolve({}))).to.throw(TypeError, 'engine is a Promise: await it first')
      expect(given(url)).to.throw(TypeError, 'engine must be an object, not a string')
      expect(given({})).to.throw(TypeError, /engine has no \w+\(\)/)
    })
  })
}

describe('openSharedQuotas with a wrong store', () => {
  const engines = useEngines()

  it('refuses what is no store', async () => {
    const engine = await engines.open({ url: (await engines.redis()).url })
    const given = (store: unknown) => () => openSharedQuotas(engine, store as never)
    expect(given(undefined)).to.throw(TypeError, 'store is missing')
    expect(given(Promise.resolve({}))).to.throw(TypeError, 'await it first')
    expect(given({})).to.throw(TypeError, 'store has no usage()')
  })
})

describe('script and parseEngineUrl with what is wrong', () => {
  it('refuse what is no text', () => {
    expect(() => script(5 as never)).to.throw(TypeError, 'source must be a string, not a number')
    expect(() => parseEngineUrl(new URL(url) as never)).to.throw(TypeError, 'url must be a string')
  })
})
