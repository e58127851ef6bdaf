import { setTimeout } from 'node:timers/promises'
import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { createFileService, type FileServiceOptions } from '../src/file-service.ts'
import { createMemoryBlobStore } from '../src/memory/memory-blob-store.ts'
import { createMemoryCredentialSource, createMemoryFailureCounter } from '../src/memory/index.ts'
import type { Customer } from '../src/model/customer.ts'
import { createLoginBrake } from '../src/policy/brakes.ts'
import { createQuotaKeeper, type QuotaKeeper } from '../src/policy/quota-keeper.ts'
import type { BlobStore } from '../src/ports/blob-store.ts'
import { arrayOf, chunks, textOf } from './content.ts'
import { refusal, rejection } from './rejection.ts'
import { withSystemClock } from './with-system-clock.ts'

const credentials = createMemoryCredentialSource([
  { name: 'alice', passwordHash: 'secret', quota: 10 },
])
const verifyPassword = async (password: string, hash: string | undefined) => password === hash

describe('createFileService', () => {
  it('gives whoever logs in the files of that customer', async () => {
    const store = createMemoryBlobStore()
    const service = createFileService({ store, credentials, verifyPassword })
    const files = await service.authenticate({ name: 'alice', password: 'secret' })
    expect(files.customer).to.deep.equal({ name: 'alice', quota: 10 })
    const info = await files.upload('a', chunks('0123456789'))
    expect(await files.stat('a')).to.deep.equal(info)
    expect(await textOf((await files.serve('a')).content)).to.equal('0123456789')
    const part = await files.serve('a', { range: { suffixLength: 2 } })
    expect(await textOf(part.content)).to.equal('89')
    await files.upload('b', chunks())
    expect(await arrayOf(files.list())).to.deep.equal([['a', 'b']])
    expect(await arrayOf(files.list({ after: 'a' }))).to.deep.equal([['b']])
    expect(await arrayOf(files.listDetails({ limit: 1 }))).to.deep.equal([[info]])
    expect(await refusal(files.upload('c', chunks('x')))).to.equal('quota-exceeded')
    await files.delete('a')
    expect(await refusal(files.serve('a'))).to.equal('not-found')
    expect(await refusal(files.stat('a'))).to.equal('not-found')
    await files.upload('c', chunks('0123456789'))
  })

  it('passes the options of an upload on', async () => {
    const files = createFileService({ store: createMemoryBlobStore() }).filesOf({ name: 'alice' })
    const digest = { hash: createHash('md5'), expected: () => 'another' }
    expect(await refusal(files.upload('a', chunks('x'), { digest }))).to.equal('digest-mismatch')
  })

  it('keeps one set of accounts for all who log in as a customer', async () => {
    const service = createFileService({ store: createMemoryBlobStore() })
    const alice = { name: 'alice', quota: 10 }
    await service.filesOf(alice).upload('a', chunks(6))
    expect(await refusal(service.filesOf(alice).upload('b', chunks(6)))).to.equal('quota-exceeded')
  })

  it('shares books with other services that are given the same ones', async () => {
    const store = createMemoryBlobStore()
    const quotas = createQuotaKeeper(store)
    const alice = { name: 'alice', quota: 10 }
    const one = createFileService({ store, quotas }).filesOf(alice)
    const other = createFileService({ store, quotas }).filesOf(alice)
    await one.upload('a', chunks(6))
    expect(await refusal(other.upload('b', chunks(6)))).to.equal('quota-exceeded')
    await other.upload('b', chunks(4))
    expect(await refusal(one.upload('c', chunks(1)))).to.equal('quota-exceeded')
  })

  it('waits for books that are elsewhere before the next chunk', async () => {
    const books = createQuotaKeeper(createMemoryBlobStore())
    const quotas: QuotaKeeper = {
      ...books,
      async claim(...args) {
        const claim = await books.claim(...args)
        return { ...claim, grow: async (bytes: number) => claim.grow(bytes) }
      },
    }
    const files = createFileService({ store: createMemoryBlobStore(), quotas }).filesOf({
      name: 'alice',
      quota: 10,
    })
    expect(await refusal(files.upload('a', chunks(6, 6)))).to.equal('quota-exceeded')
    await files.upload('a', chunks(6, 4))
  })

  it('holds files to maxFileSize', async () => {
    const service = createFileService({ store: createMemoryBlobStore(), maxFileSize: 3 })
    const files = service.filesOf({ name: 'alice' })
    await files.upload('a', chunks(3))
    expect(await refusal(files.upload('b', chunks(4)))).to.equal('file-too-large')
  })

  it('goes by the clock it is given when it counts anew', async () => {
    let time = 0
    const store = createMemoryBlobStore()
    const files = createFileService({ store, now: () => time }).filesOf({ name: 'a', quota: 10 })
    await files.upload('small', chunks(1))
    await store.put({ customer: 'a', name: 'by another process' }, chunks(9))
    await files.upload('unnoticed', chunks(1))
    time += 60_000
    expect(await refusal(files.upload('noticed', chunks(1)))).to.equal('quota-exceeded')
  })

  it('counts anew also where the clock of the system is set back', () =>
    withSystemClock(async (setBack) => {
      const store = createMemoryBlobStore()
      const files = createFileService({ store }).filesOf({ name: 'a', quota: 10 })
      await files.upload('large', chunks(10))
      expect(await refusal(files.upload('more', chunks(1)))).to.equal('quota-exceeded')
      await store.delete({ customer: 'a', name: 'large' })
      setBack()
      await setTimeout(1_100)
      await files.upload('more', chunks(1))
    }))

  it('slows guessing with the brake it is given', async () => {
    const counter = createMemoryFailureCounter({ windowMs: 1000 })
    const loginBrake = createLoginBrake({ counter, failuresPerName: 1 })
    const store = createMemoryBlobStore()
    const service = createFileService({ store, credentials, verifyPassword, loginBrake })
    const guess = { name: 'alice', password: 'guess', address: '6.6.6.6' }
    expect(await refusal(service.authenticate(guess))).to.equal('invalid-credentials')
    expect(await refusal(service.authenticate(guess))).to.equal('too-many-attempts')
  })

  describe('by default', () => {
    it('lets no one log in, and says what it takes, instead of calling each password wrong', async () => {
      const login = { name: 'alice', password: 'secret' }
      const store = createMemoryBlobStore()
      const always = async () => true
      for (const service of [
        createFileService({ store }),
        createFileService({ store, credentials }),
        createFileService({ store, verifyPassword: always }),
      ]) {
        expect(await rejection(service.authenticate(login)))
          .to.be.instanceOf(TypeError)
          .with.property('message')
          .that.matches(/give createFileService credentials and verifyPassword/)
      }
    })

    it('slows no one down', async () => {
      const verifyPassword = async () => false
      const store = createMemoryBlobStore()
      const service = createFileService({ store, credentials, verifyPassword })
      for (let attempt = 0; attempt < 100; attempt++) {
        const refused = service.authenticate({ name: 'alice', password: 'guess' })
        expect(await refusal(refused)).to.equal('invalid-credentials')
      }
    })

    it('takes files of any size', async () => {
      const files = createFileService({ store: createMemoryBlobStore() }).filesOf({ name: 'a' })
      const size = 2 ** 60
      expect(await files.upload('a', chunks('x'), { size })).to.include({ size: 1 })
    })
  })

  describe('filesOf', () => {
    const service = createFileService({ store: createMemoryBlobStore() })

    for (const name of ['', '.', '..', 'a/b', 'a\0', 'x'.repeat(256)]) {
      it(`throws a TypeError for a customer called ${JSON.stringify(name.slice(0, 10))}`, () => {
        expect(() => service.filesOf({ name })).to.throw(TypeError, 'Invalid customer name: it ')
      })
    }

    it('keeps customers apart', async () => {
      await service.filesOf({ name: 'a' }).upload('bc', chunks('of a'))
      await service.filesOf({ name: 'ab' }).upload('c', chunks('of ab'))
      expect(await arrayOf(service.filesOf({ name: 'a' }).list())).to.deep.equal([['bc']])
      expect(await refusal(service.filesOf({ name: 'ab' }).serve('bc'))).to.equal('not-found')
    })
  })
})

describe('createFileService with wrong options', () => {
  const store = createMemoryBlobStore()
  const thrown = (action: () => unknown) => {
    try {
      action()
    } catch (error) {
      return error
    }
    return undefined
  }

  const wrongOptions: Readonly<Record<string, readonly [options: unknown, words: RegExp]>> = {
    'no options': [undefined, /createFileService\(\{ store \}\)/],
    'no store': [{}, /store is missing/],
    'the promise of a store': [{ store: Promise.resolve(store) }, /store is a Promise.*await/],
    'a store without a method': [{ store: { ...store, put: undefined } }, /store has no put/],
    'a size that is a string': [{ store, maxFileSize: '5GB' }, /maxFileSize.*"5GB"/],
    'a size that is negative': [{ store, maxFileSize: -1 }, /maxFileSize.*-1/],
    'credentials without a method': [{ store, credentials: {} }, /credentials has no find/],
    'uploads in pieces without a method': [
      { store: { ...store, resumable: { begin: () => {} } } },
      /store\.resumable has no state/,
    ],
    'uploads in pieces that remember none': [
      { store: { ...store, resumable: { ...store.resumable, remember: undefined } } },
      /store\.resumable has no remember/,
    ],
    'a history that purges nothing': [
      { store: { ...store, history: { ...store.history, purge: undefined } } },
      /store\.history has no purge/,
    ],
    'a time for which nothing can be kept': [{ store, keepReplacedMs: 5 }, /keepReplacedMs.*5/],
    'a hash that cannot be called': [{ store, createSha256: 'sha256' }, /createSha256/],
    'a number of uploads that is none': [
      { store, maxUnfinishedUploads: '5' },
      /maxUnfinishedUploads.*"5"/,
    ],
    'no time before uploads expire': [{ store, uploadExpiryMs: 0 }, /uploadExpiryMs.*1/],
    'no end before uploads expire': [{ store, uploadExpiryMs: Infinity }, /uploadExpiryMs.*1/],
    'a verifier that cannot be called': [{ store, verifyPassword: 'x' }, /verifyPassword/],
  }
  for (const [what, [options, words]] of Object.entries(wrongOptions)) {
    it(`refuses ${what}, and names the mistake`, () => {
      const error = thrown(() => createFileService(options as FileServiceOptions))
      expect(error).to.be.instanceOf(Error).with.property('message').that.matches(words)
    })
  }

  const wrongCustomers: Readonly<Record<string, readonly [customer: unknown, words: RegExp]>> = {
    'no customer': [undefined, /customer/],
    'a name instead of a customer': ['alice', /filesOf\(\{ name \}\)/],
    'a customer without a name': [{}, /name/],
    'a quota that is a string': [{ name: 'alice', quota: '5GB' }, /quota.*number.*"5GB"/],
    'a quota that is no number': [{ name: 'alice', quota: NaN }, /quota.*NaN/],
    'a quota that is negative': [{ name: 'alice', quota: -1 }, /quota.*-1/],
    'files that are no number': [
      { name: 'alice', maxFiles: '5' },
      /maxFiles.*number of files.*"5"/,
    ],
  }
  for (const [what, [customer, words]] of Object.entries(wrongCustomers)) {
    it(`has no files of ${what}`, () => {
      const error = thrown(() => createFileService({ store }).filesOf(customer as Customer))
      expect(error).to.be.instanceOf(Error).with.property('message').that.matches(words)
    })
  }

  it('refuses names of files that are no strings', async () => {
    const files = createFileService({ store }).filesOf({ name: 'alice' })
    for (const name of [undefined, 5] as never[]) {
      for (const asked of [files.upload(name, 'x'), files.serve(name), files.delete(name)]) {
        expect(await rejection(asked))
          .to.be.instanceOf(TypeError)
          .with.property('message')
          .that.matches(/^The name of a file must be a string, not /)
      }
    }
  })

  it('refuses a digest that is text, or has no hash', async () => {
    const files = createFileService({ store }).filesOf({ name: 'alice' })
    const wrong: readonly (readonly [digest: unknown, words: string])[] = [
      ['abc', 'digest must be an object, not a string'],
      [{ expected: () => 'abc' }, 'digest.hash is missing'],
    ]
    for (const [digest, words] of wrong) {
      expect(await rejection(files.upload('b', 'x', { digest: digest as never })))
        .to.be.instanceOf(TypeError)
        .with.property('message', words)
      expect(await rejection(files.serve('b'))).to.include({ code: 'not-found' })
    }
  })

  it('refuses a size of an upload that is a string', async () => {
    const files = createFileService({ store }).filesOf({ name: 'alice' })
    const error = await rejection(files.upload('a', 'x', { size: '1' as unknown as number }))
    expect(error)
      .to.be.instanceOf(TypeError)
      .with.property('message')
      .that.matches(/size.*"1"/)
  })

  it('takes a store whose methods use `this`', async () => {
    class Store {
      readonly #memory = createMemoryBlobStore()
      put: BlobStore['put'] = (...all) => this.#memory.put(...all)
      stat: BlobStore['stat'] = (...all) => this.#memory.stat(...all)
      open: BlobStore['open'] = (...all) => this.#memory.open(...all)
      delete: BlobStore['delete'] = (...all) => this.#memory.delete(...all)
      usage: BlobStore['usage'] = (...all) => this.#memory.usage(...all)
      list: BlobStore['list'] = (...all) => this.#memory.list(...all)
      listDetails: BlobStore['listDetails'] = (...all) => this.#memory.listDetails(...all)
      customers: BlobStore['customers'] = () => this.#memory.customers()
    }
    const files = createFileService({ store: new Store() }).filesOf({ name: 'alice' })
    expect((await files.upload('a', 'x')).size).to.equal(1)
  })
})
