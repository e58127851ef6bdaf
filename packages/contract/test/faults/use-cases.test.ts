import { createHash } from 'node:crypto'
import {
  createFileService,
  createLoginBrake,
  FileServiceError,
  isFileServiceError,
  type CustomerFiles,
  type FileService,
} from '@holdfast/core'
import {
  createMemoryBlobStore,
  createMemoryCredentialSource,
  createMemoryFailureCounter,
} from '@holdfast/core/memory'
import { expect } from 'chai'
import { collect, expectRefusal } from '../../src/support/expectations.ts'
import { createFaults, type Faults, forEveryFault, injectFaults } from '../../src/faults.ts'
import { chunks } from '../../src/support/content.ts'

const error = new FileServiceError('store-unavailable', 'on purpose')
const older = Buffer.from('older')
const newer = Buffer.from('newer content')
const quota = 100
const sha256 = createHash('sha256').update(newer).digest('hex')
const content = () => chunks(newer.subarray(0, 5), newer.subarray(5))

/** Every use case on the files of a customer who keeps `a`, and what is kept then. */
const useCases: Readonly<
  Record<string, { run: (files: CustomerFiles) => Promise<unknown>; leaves: readonly Buffer[] }>
> = {
  upload: { run: (files) => files.upload('a', content()), leaves: [newer] },
  'upload of a size': {
    run: (files) => files.upload('a', content(), { size: newer.length }),
    leaves: [newer],
  },
  'upload with a digest': {
    run: (files) =>
      files.upload('a', content(), {
        digest: { hash: createHash('sha256'), expected: () => sha256 },
      }),
    leaves: [newer],
  },
  'upload that creates': {
    run: (files) => files.upload('b', content(), { createOnly: true }),
    leaves: [older, newer],
  },
  'upload in pieces': { run: (files) => uploadInPieces(files, true), leaves: [newer] },
  'upload in pieces, of an unknown length': {
    run: (files) => uploadInPieces(files, false),
    leaves: [newer],
  },
  'upload in pieces, as a whole': {
    run: ({ resumable }) =>
      resumable?.uploadWhole('a', content(), { length: newer.length, sha256 }) ??
      Promise.reject(new Error('The store keeps no uploads in pieces')),
    leaves: [newer],
  },
  serve: { run: async (files) => read(files, {}), leaves: [older] },
  'serve in part': { run: async (files) => read(files, { first: 1 }), leaves: [older] },
  stat: { run: (files) => files.stat('a'), leaves: [older] },
  list: { run: (files) => collect(files.list()), leaves: [older] },
  'list with details': { run: (files) => collect(files.listDetails()), leaves: [older] },
  'list by pages': {
    run: (files) => collect(files.list({ limit: 1, after: '0' })),
    leaves: [older],
  },
  delete: { run: (files) => files.delete('a'), leaves: [] },
}

async function uploadInPieces({ resumable }: CustomerFiles, isKnown: boolean): Promise<void> {
  if (!resumable) throw new Error('The store keeps no uploads in pieces')
  const { id } = await resumable.begin('a', { sha256, ...(isKnown && { length: newer.length }) })
  await resumable.append(id, 0, newer.subarray(0, 5))
  await resumable.append(id, 5, newer.subarray(5))
  if (!isKnown) await resumable.publish(id)
}

/** Makes room for the look at the books. */
async function discardUnfinished({ resumable }: CustomerFiles): Promise<void> {
  if (!resumable) return
  const unfinished = (await collect(resumable.list())).flat()
  for (const { id } of unfinished) await resumable.discard(id)
}

async function read(files: CustomerFiles, range: { first?: number }): Promise<Buffer> {
  const { first = 0 } = range
  const file = await files.serve('a', { range: { first } })
  try {
    return Buffer.concat(await collect(file.content))
  } finally {
    await file.close()
  }
}

/** The service and the files of alice, who keeps `a`, over a store that fails as planned. */
async function open(isCounted: boolean) {
  const faults = createFaults()
  const store = createMemoryBlobStore()
  const service = createFileService({
    store: injectFaults(store, faults),
    createSha256: () => createHash('sha256'),
  })
  const files = service.filesOf({ name: 'alice', quota })
  if (isCounted) await files.upload('a', chunks(older))
  else await store.put({ customer: 'alice', name: 'a' }, chunks(older))
  const kept = async () => {
    const names = (await collect(store.list('alice'))).flat()
    const blobs = await Promise.all(names.map((name) => store.open({ customer: 'alice', name })))
    return Promise.all(blobs.map(async (blob) => Buffer.concat(await collect(blob!.content))))
  }
  return { faults, files, kept }
}

async function expectBooksRight(files: CustomerFiles): Promise<void> {
  await discardUnfinished(files)
  await files.upload('a', chunks(older))
  await files.upload('b', chunks(older))
  await files.upload('rest', chunks(Buffer.alloc(quota - 2 * older.length)))
  await expectRefusal(files.upload('more', chunks(Buffer.alloc(1))), 'quota-exceeded')
}

/** The methods that change what is kept; their answers may be lost. */
const changes = ['put', 'delete', 'resumable.publish']

let met = 0

describe('createFileService under every fault', () => {
  after(() => console.log(`figures: use cases: ${met} faults of the ports`))

  for (const [title, { run, leaves }] of Object.entries(useCases)) {
    for (const isCounted of [false, true]) {
      const books = isCounted ? 'counted already' : 'not counted yet'
      it(`fails ${title} with that very error, by a customer ${books}, and goes on`, async () => {
        const struck = await forEveryFault(
          async (fault) => {
            const { faults, files, kept } = await open(isCounted)
            faults.plan(fault)
            const failure = await run(files).then(
              () => undefined,
              (reason: unknown) => reason,
            )
            const [step] = faults.struck()
            // The file is safe by then.
            const isRemembering = step?.method === 'resumable.remember'
            expect(failure).to.equal(isRemembering ? undefined : step && error)
            faults.plan()
            const isLost =
              (step?.moment === 'answer' && changes.includes(step.method)) || isRemembering
            expect(await kept()).to.deep.equal(step && !isLost ? [older] : leaves)
            await expectBooksRight(files)
            expect(faults.underWay()).to.equal(0)
          },
          { error },
        )
        met += struck.length
      })

      it(`keeps ${title} whole in an outage, by a customer ${books}, and goes on behind it`, async () => {
        const struck = await forEveryFault(
          async (fault) => {
            const { faults, files, kept } = await open(isCounted)
            faults.plan(fault)
            await run(files).catch((reason: unknown) => expect(reason).to.equal(error))
            faults.plan()
            expect(await kept()).to.deep.oneOf([[older], leaves])
            await expectBooksRight(files)
            expect(faults.underWay()).to.equal(0)
          },
          { error, lasting: true },
        )
        met += struck.length
      })
    }
  }

  for (const method of ['put', 'usage', 'stat']) {
    it(`gives an upload up at once that is held in ${method}, or right behind it`, async () => {
      const { faults, files, kept } = await open(false)
      const gate = Promise.withResolvers<undefined>()
      faults.plan({ nth: 1, only: { method, moment: 'call' }, hold: gate.promise })
      const abort = new AbortController()
      const upload = expectRefusal(
        files.upload('a', content(), { signal: abort.signal }),
        'store-unavailable',
      )
      abort.abort(error)
      if (method !== 'put') gate.resolve(undefined)
      await upload
      faults.plan()
      expect(await kept()).to.deep.equal([older])
      await expectBooksRight(files)
      expect(faults.underWay()).to.equal(0)
    })
  }

  describe('authenticate', () => {
    for (const [title, password, code] of [
      ['the right password', 'p', undefined],
      ['a wrong password', 'wrong', 'invalid-credentials'],
    ] as const) {
      it(`lets no one in while a port fails, with ${title}, and goes on`, async () => {
        const struck = await forEveryFault(
          async (fault) => {
            const faults = createFaults()
            const service = serviceWith(faults)
            faults.plan(fault)
            const outcome = await login(service, password)
            const [step] = faults.struck()
            if (step) expect(outcome).to.equal(error)
            else if (code) expect(isFileServiceError(outcome, code)).to.equal(true)
            else expect(outcome).to.equal('alice')
            faults.plan()
            expect(await login(service, 'p')).to.equal('alice')
            expect(faults.underWay()).to.equal(0)
          },
          { error },
        )
        met += struck.length
      })
    }
  })
})

/** A service in which alice may log in with `p`, over ports that fail as planned. */
function serviceWith(faults: Faults): FileService {
  const source = createMemoryCredentialSource([{ name: 'alice', passwordHash: 'p' }])
  const counter = createMemoryFailureCounter({ windowMs: 60_000 })
  return createFileService({
    store: createMemoryBlobStore(),
    credentials: { find: (name) => faults.call('find', async () => source.find(name)) },
    verifyPassword: (password, hash) => faults.call('verify', async () => password === hash),
    loginBrake: createLoginBrake({
      counter: {
        read: (key) => faults.call('read', async () => counter.read(key)),
        add: (key) => faults.call('add', () => counter.add(key)),
      },
    }),
  })
}

/** The name of who is let in, or why nobody is. */
function login(service: FileService, password: string): Promise<unknown> {
  return service.authenticate({ name: 'alice', password, address: '192.0.2.1' }).then(
    ({ customer }) => customer.name,
    (reason: unknown) => reason,
  )
}
