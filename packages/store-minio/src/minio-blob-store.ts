import { randomUUID, hash, randomBytes } from 'node:crypto'
import {
  createPublishedUploads,
  having,
  requireCount,
  requireFlag,
  requireOptions,
  requireText,
  type BlobKey,
  type BlobStore,
  type OptionCheck,
  type LinkGenerations,
  adviceOf,
} from '@holdfast/core'
import { canCompareAndSwap } from './bucket/can-compare-and-swap.ts'
import {
  checkBucket,
  probeBucket,
  checkListedNames,
  findHistoryProblem,
} from './bucket/check-bucket.ts'
import { type ServerTrial, removeOldTrialObjects } from './bucket/trial-objects.ts'
import { createMinioHistory } from './history/minio-history.ts'
import { translating, StoreSettingError } from './http/s3-errors.ts'
import { listCustomers, listDetails, listNames, measure } from './list/list-blobs.ts'
import { createKeptObjects, type ObjectRead } from './read/get-object.ts'
import { readBlob } from './read/read-blob.ts'
import { statObject, type FoundVersion, findObject } from './read/stat-object.ts'
import { createMinioResumableUploads } from './resumable/minio-resumable-uploads.ts'
import { createUploadKeys } from './resumable/upload-keys.ts'
import { renameObject } from './write/copy-object.ts'
import { describeWritten, type ObjectWrite } from './write/object-write.ts'
import { createOwnObjects, type OwnObjects, removeVersions } from './write/own-objects.ts'
import { createBufferBudget } from './write/parts.ts'
import { putObject } from './write/put-object.ts'
import {
  type Companions,
  createKeyTurns,
  createObjectRemover,
  createRemovals,
  removeIf,
} from './write/removals.ts'
import { abortStaleUploads, type Sweep } from './write/stale-uploads.ts'
import { createStoreClient, type StoreClient } from './http/s3-client.ts'
import { createObjectKeys, type ObjectKeys } from './keys/object-keys.ts'

export interface MinioBlobStoreOptions extends StoreAccessOptions {
  /**
   * Milliseconds without a new part after which the remains of a crashed upload are removed. It must be the same in all processes that
   * share the bucket: each relies on the others not to remove uploads earlier. Default: a day.
   */
  readonly staleUploadAfterMs?: number
  /**
   * The most bytes of small objects that are kept in memory; 0 for none. They are served after the server has said that they have not
   * changed. Default: 32 MiB.
   */
  readonly cacheBytes?: number
  /**
   * Other processes that publish into the bucket and can be reached, such as the workers of one server: a rename removes nothing that
   * they publish. Default: none. What processes publish that are not among them may be lost if it comes between the last look of a rename
   * at the earlier name and its removal.
   */
  readonly companions?: Companions
  /** Receives warnings about left-overs of a crash that were removed, or cannot be removed. Default: no log. */
  readonly log?: { warn(message: string): void }
}

/** A {@link BlobStore} on a bucket. */
export interface MinioBlobStore extends BlobStore {
  /** The number of connections that carry a request, or an answer that has not been read completely. */
  readonly busyConnections: () => number
  /** Writes, reads and removes a test object as it does with blobs. Rejects with the first failure. */
  readonly probe: (signal?: AbortSignal) => Promise<void>
  /**
   * Why the store has no `history`, in words for an administrator, with what to do; `undefined` if it has one. The words begin in lower
   * case and have no full stop. They were found when the store was opened.
   */
  readonly historyProblem: () => string | undefined
  /** Closes the connections; requests on them fail. */
  close(): Promise<void>
}

const MiB = 1024 * 1024

/** S3 has no fractions of seconds in its headers. */
const wholeSeconds = (time: number) => Math.floor(time / 1000)

/** Bytes that the parts of all uploads may take in memory together; each upload may have one part beyond that. */
const uploadMemory = 128 * MiB

const hour = 60 * 60 * 1000

/**
 * Opens the store in a bucket of MinIO or another S3 server. Every blob is one object; the README describes the keys for administrators.
 * Any number of processes and machines may share the bucket.
 *
 * @throws StoreSettingError that says which setting is wrong
 */
export function openMinioBlobStore(options: MinioBlobStoreOptions): Promise<MinioBlobStore> {
  return openTryingBy({ canSwap: canCompareAndSwap, checkNames: checkListedNames }, options)
}

const requireTime: OptionCheck = (what, value) => requireCount(what, value, 'milliseconds')

/** Trials that show what a server can do. */
export interface ServerTrials {
  /** Whether uploads can be resumed. */
  readonly canSwap: (trial: ServerTrial) => Promise<boolean>
  /** @throws StoreSettingError if lists have other names than the files */
  readonly checkNames: (trial: ServerTrial) => Promise<void>
}

/** Opens the store as {@link openMinioBlobStore} does, with other trials, for callers who know the server. */
export async function openTryingBy(
  { canSwap, checkNames }: ServerTrials,
  options: MinioBlobStoreOptions,
): Promise<MinioBlobStore> {
  requireOptions('openMinioBlobStore({ endpoint, bucket, accessKey, secretKey })', options, {
    endpoint: requireText,
    bucket: requireText,
    accessKey: requireText,
    secretKey: requireText,
    'sessionToken?': requireText,
    'region?': requireText,
    'prefix?': requireText,
    'createBucket?': requireFlag,
    'connectTimeoutMs?': requireTime,
    'idleTimeoutMs?': requireTime,
    'staleUploadAfterMs?': requireTime,
    'cacheBytes?': requireCount,
    'companions?': having('hold', 'onHold'),
    'log?': having('warn'),
  })
  const { bucket, createBucket = false, staleUploadAfterMs = 24 * hour } = options
  const { cacheBytes = 32 * MiB, log = { warn: () => {} } } = options
  const { keys, client, region, prefix } = createStoreAccess(options)
  const { s3, changing, gets } = client
  const budget = createBufferBudget(uploadMemory)
  const kept = createKeptObjects(cacheBytes)
  const underWay = new Set<string>()
  const removals = createRemovals()
  const inTurn = createKeyTurns()
  const { companions } = options
  companions?.onHold(
    (key) =>
      new Promise((resolve, reject) => {
        removals.alone(key, () => new Promise<void>(resolve)).catch(reject)
      }),
  )
  const removeObject = createObjectRemover(changing, removals, inTurn)
  const trial = { client, bucket, prefix, log }
  try {
    await checkBucket({ s3, bucket, prefix, region, createBucket, endpoint: options.endpoint })
    await checkNames(trial)
  } catch (error) {
    client.close()
    throw error
  }
  const [hasResumable, historyProblem] = await Promise.all([
    canSwap(trial),
    findHistoryProblem({ s3, bucket, prefix }),
  ])
  const hasHistory = historyProblem === undefined
  const own = createOwnObjects(s3, bucket, hasHistory)
  const resumable = createMinioResumableUploads({
    ...{
      s3,
      changing,
      gets,
      kept: createKeptObjects(0),
      bucket,
      keys,
      removals,
      own,
      budget,
      underWay,
      sparedForMs: staleUploadAfterMs,
      log,
    },
    published: createPublishedUploads(),
    uploadKeys: createUploadKeys(prefix),
  })
  const stopSweeping = keepSweeping(
    { s3, bucket, keys, underWay, staleAfterMs: staleUploadAfterMs },
    log,
    hasHistory ? { own } : {},
  )
  const listing = { s3, bucket, keys }
  const objectOf = (key: BlobKey) => ({
    ...{ s3, gets, kept, bucket },
    ...{ key: keys.keyOf(key), name: key.name },
  })

  const ours = { changing, removals, budget, underWay, log }
  const texts = { ...ours, own, s3, gets, bucket }
  const expiryNotes = createCustomerObjects('expiry/', texts, prefix, 'remove it')

  const removeVersion = async (key: string, version: string) => {
    await removeVersions(s3, bucket, [{ key, version }]).catch((error: unknown) => {
      log.warn(`A renamed file stays a version of its earlier name: ${String(error)}`)
    })
  }

  return {
    async put(key, content, { createOnly = false, signal, release } = {}) {
      const object = objectOf(key)
      const write = { ...object, ...ours, createOnly, mark: randomUUID() }
      const written = await putObject(write, content, signal, release)
      return describeWritten(written, key.name, await statObject(object).catch(() => undefined))
    },

    async open(key, openOptions = {}) {
      return readBlob(objectOf(key), openOptions)
    },

    async stat(key) {
      return statObject(objectOf(key))
    },

    delete: async (key) => translating(removeObject(objectOf(key))),

    async rename(key, to, { createOnly = false, keepReplaced = false } = {}) {
      const [source, target] = [objectOf(key), objectOf({ ...key, name: to })]
      const write = { ...target, ...ours, createOnly, mark: randomUUID() }
      const written = await inTurn('rename', source.key, () =>
        renameObject(source, write, {
          companions,
          // Otherwise the versions are the administrator's.
          ...(hasHistory && keepReplaced && { removeVersion }),
        }),
      )
      if (written === undefined) return undefined
      return describeWritten(written, to, await statObject(target).catch(() => undefined))
    },

    list: (customer, listOptions = {}) => listNames(listing, customer, listOptions),

    listDetails: (customer, listOptions = {}) => listDetails(listing, customer, listOptions),

    usage: async (customer) => measure(listing, customer),

    customers: () => listCustomers(listing),

    ...(hasResumable && { resumable }),

    linkGenerations: createLinkGenerations(
      createCustomerObjects('links/', texts, prefix, 'end the links again'),
    ),

    expiry: {
      async deleteUnchanged(customer, { name, etag, modifiedAt }) {
        const object = objectOf({ customer, name })
        const isUnchanged = (found: FoundVersion) =>
          found.etag.replaceAll('"', '') === etag &&
          wholeSeconds(found.modifiedAt) === wholeSeconds(modifiedAt.getTime())
        return inTurn('rename', object.key, () =>
          translating(removeIf(object, isUnchanged, { changing, removals, companions })),
        )
      },
      readNote: async (customer) => (await expiryNotes.read(customer)) ?? '',
      writeNote: (customer, note) => expiryNotes.write(customer, note),
    },

    ...(hasHistory && { history: createMinioHistory({ listing, objectOf, ours }) }),

    historyProblem: () => historyProblem,

    busyConnections: client.busyConnections,

    probe: (signal) => translating(probeBucket({ s3, bucket, prefix }, signal)),

    async close() {
      stopSweeping()
      client.close()
    },
  }
}

/** Sweeps now and every hour; returns a function that stops it. */
function keepSweeping(
  sweep: Sweep,
  log: { warn(message: string): void },
  trials: { readonly own?: OwnObjects },
): () => void {
  const once = async () => {
    try {
      const count = await abortStaleUploads(sweep)
      if (count > 0) log.warn(`Removed ${count} unfinished upload(s) that a crash left behind`)
    } catch (error) {
      log.warn(`Looking for unfinished uploads in the bucket failed: ${String(error)}`)
    }
    await removeOldTrialObjects(sweep.s3, sweep.bucket, sweep.keys.prefix, trials)
  }
  void once()
  const timer = setInterval(() => void once(), hour).unref()
  return () => clearInterval(timer)
}

/** Short texts that the store keeps for customers, each in an object of its own. */
interface CustomerObjects {
  /** The text; `undefined` if there is none. */
  read(customer: string): Promise<string | undefined>
  /** Replaces the text, and resolves with the time of the server's clock. */
  write(customer: string, text: string): Promise<Date>
}

type Objects = Omit<ObjectWrite, 'key' | 'createOnly' | 'mark'> &
  Pick<ObjectRead, 'gets'> & { readonly own: OwnObjects }

/**
 * The texts below `folder`. No blob and no customer has a key there; see `resumable/upload-keys.ts`. Administrators see `folder`.
 * `afterDamage`: what to do about an empty object.
 */
export function createCustomerObjects(
  folder: string,
  objects: Objects,
  prefix: string,
  afterDamage: string,
): CustomerObjects {
  const kept = createKeptObjects(0)
  // By its SHA-256 a customer's name is short and plain.
  const keyOf = (customer: string) => `${prefix}\u007f${folder}${hash('sha256', customer)}`
  return {
    async read(customer) {
      const key = keyOf(customer)
      const blob = await readBlob({ ...objects, kept, key, name: key }, {})
      if (!blob) return undefined
      const chunks: Uint8Array[] = []
      for await (const chunk of blob.content) chunks.push(chunk)
      const text = Buffer.concat(chunks).toString('latin1')
      // Without the text, links that have ended would be good again.
      if (text === '') throw new Error(`The object ${key} is damaged: ${afterDamage}`)
      return text
    },
    async write(customer, text) {
      const key = keyOf(customer)
      const write = { ...objects, key, createOnly: false, mark: randomUUID() }
      await putObject(write, oneChunk(Buffer.from(text)), undefined)
      await objects.own.removeReplaced(key)
      const { s3, bucket } = objects
      const found = await translating(findObject({ s3, bucket, key }))
      return found === undefined ? new Date() : new Date(found.modifiedAt)
    },
  }
}

async function* oneChunk(bytes: Uint8Array) {
  yield bytes
}

/** The generations of links, each in an object of its own. A customer without one has the first. */
export function createLinkGenerations(objects: CustomerObjects): LinkGenerations {
  return {
    read: async (customer) => (await objects.read(customer)) ?? '',
    async renew(customer) {
      const generation = randomBytes(16).toString('hex')
      await objects.write(customer, generation)
      return generation
    },
  }
}

/** The address of a bucket, and where in it the files are. */
export interface StoreAccessOptions {
  /** The address of the server, as in `http://host:9000` or `https://host`. */
  readonly endpoint: string
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: string
  /** Needed with temporary keys. Default: none. */
  readonly sessionToken?: string
  /** Default: `us-east-1`, the default of MinIO. */
  readonly region?: string
  /** The beginning of all keys, such as `holdfast/`, in a bucket that is also used for other things. Default: nothing. */
  readonly prefix?: string
  /** Whether to make the bucket if it is missing. Default: no. */
  readonly createBucket?: boolean
  /** Milliseconds within which a connection must be established. Default: 5,000. */
  readonly connectTimeoutMs?: number
  /** Milliseconds for which the server may neither take nor send a byte while a request waits for it. Default: 30,000. */
  readonly idleTimeoutMs?: number
}

export interface StoreAccess {
  readonly client: StoreClient
  readonly keys: ObjectKeys
  readonly region: string
  readonly prefix: string
}

/**
 * Makes the clients for a bucket; does not connect yet.
 *
 * @throws StoreSettingError for an invalid endpoint or prefix
 */
export function createStoreAccess(options: StoreAccessOptions): StoreAccess {
  const { region = 'us-east-1', prefix = '' } = options
  return { keys: keysFor(prefix), client: connect(options, region), region, prefix }
}

function keysFor(prefix: string): ObjectKeys {
  try {
    return createObjectKeys(prefix)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const { problem, remedies } = adviceOf(error)
    throw new StoreSettingError('prefix', `the prefix "${prefix}" ${problem}`, remedies)
  }
}

function connect(options: StoreAccessOptions, region: string): StoreClient {
  const { endpoint, connectTimeoutMs = 5_000, idleTimeoutMs = 30_000 } = options
  const url = URL.parse(endpoint)
  const isUsable =
    (url?.protocol === 'http:' || url?.protocol === 'https:') &&
    url.username === '' &&
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === ''
  if (!isUsable) {
    const message = `"${endpoint}" is no address such as http://host:9000`
    throw new StoreSettingError('endpoint', message)
  }
  return createStoreClient({ ...options, region, connectTimeoutMs, idleTimeoutMs })
}
