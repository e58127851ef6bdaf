import { setImmediate } from 'node:timers/promises'
import {
  FileServiceError,
  type BlobStore,
  type Expiry,
  type History,
  type KeptBlob,
  type ResumableUploads,
} from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import {
  broken,
  harnessOf,
  mapChunks,
  once,
  type BrokenStore,
  type Methods,
} from './broken-store.ts'

/** The parts of the memory store that a flaw may change. */
function partsOf(store: BlobStore) {
  const { history, expiry, resumable } = store
  const rename = store.rename?.bind(store)
  if (!history || !expiry || !resumable || !rename) throw new TypeError('The memory store has all')
  return { history, expiry, resumable, rename }
}

/** A flaw in the history alone: `change` gets the sound one. */
const history =
  (change: (sound: History, store: BlobStore) => Partial<History>) =>
  (store: BlobStore): Methods => {
    const sound = partsOf(store).history
    return { history: { ...sound, ...change(sound, store) } }
  }

/** A flaw in what the history shows of its entries, wherever it shows them. */
const shown = (change: (entries: readonly KeptBlob[]) => readonly KeptBlob[]) =>
  history((sound) => {
    const changed = async function* (pages: AsyncIterable<readonly KeptBlob[]>) {
      for await (const page of pages) yield change(page)
    }
    return {
      versions: (key, options) => changed(sound.versions(key, options)),
      deleted: (customer, options) => changed(sound.deleted(customer, options)),
      kept: (customer) => changed(sound.kept(customer)),
    }
  })

async function all<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const found: T[] = []
  for await (const page of pages) found.push(...page)
  return found
}

const kept = (fact: string) => `what is kept > ${fact}`
const versions = (fact: string) => `versions of a name > ${fact}`
const deleted = (fact: string) => `deleted names > ${fact}`
const restoring = (fact: string) => `restoring > ${fact}`
const purging = (fact: string) => `purging > ${fact}`
const atOnce = (fact: string) => `at once > ${fact}`

const forgetting = { keepReplaced: false }

export const historyFlaws: readonly BrokenStore[] = [
  broken(
    'keeps only the beginning of what a put replaces',
    kept('is what a put has replaced, to the byte'),
    history((sound) => ({
      async open(key, options) {
        const opened = await sound.open(key, options)
        const cut = (chunk: Uint8Array) => chunk.subarray(0, 500)
        return opened && { ...opened, content: mapChunks(opened.content, cut) }
      },
    })),
  ),
  broken('keeps nothing that is deleted', kept('is what was deleted'), (store) => ({
    delete: (key) => store.delete(key, forgetting),
  })),
  broken(
    'keeps nothing that a rename replaces',
    kept('is what a rename has replaced, under its name'),
    (store) => ({
      rename: (key, to, options) => partsOf(store).rename(key, to, { ...options, ...forgetting }),
    }),
  ),
  broken(
    'keeps the history of a name under the new one',
    kept('stays with the name when the file is renamed'),
    (store) => {
      const { history: sound, rename } = partsOf(store)
      const names = new Map<string, string>()
      return {
        async rename(key, to, options) {
          names.set(to, key.name)
          return rename(key, to, options)
        },
        history: {
          ...sound,
          versions: (key, options) =>
            sound.versions({ ...key, name: names.get(key.name) ?? key.name }, options),
        },
      }
    },
  ),
  broken(
    'keeps nothing that an upload in pieces replaces',
    kept('is what an upload in pieces has replaced'),
    (store) => {
      const { resumable } = partsOf(store)
      const publish: ResumableUploads['publish'] = (key) => resumable.publish(key, forgetting)
      return { resumable: { ...resumable, publish } }
    },
  ),
  broken('keeps nothing that expires', kept('is what has expired'), (store) => {
    const { expiry } = partsOf(store)
    const deleteUnchanged: Expiry['deleteUnchanged'] = (customer, blob) =>
      expiry.deleteUnchanged(customer, blob, forgetting)
    return { expiry: { ...expiry, deleteUnchanged } }
  }),
  broken(
    'keeps only blobs that were put so',
    kept('begins with blobs that were put without keeping'),
    (store) => {
      const kept = new Set<string>()
      return {
        async put(key, content, options = {}) {
          const keepReplaced = kept.has(key.name)
          if (options.keepReplaced) kept.add(key.name)
          return store.put(key, content, { ...options, keepReplaced })
        },
      }
    },
  ),
  broken(
    'calls the time of the blob that of its replacement',
    kept('has size, times and entity tag of the blob, and when it was replaced'),
    shown((entries) => entries.map((one) => ({ ...one, replacedAt: new Date(0) }))),
  ),
  broken(
    'keeps no empty blobs',
    kept('is empty, and keeps empty blobs'),
    shown((entries) => entries.filter(({ size }) => size > 0)),
  ),
  broken(
    'reads all where a range is asked for',
    kept('keeps large blobs, whose ranges can be read'),
    history((sound) => ({ open: (key) => sound.open(key) })),
  ),
  broken(
    'folds case and form of names',
    kept('belongs to one name of one customer, whatever they are'),
    (store) => {
      const fold = (name: string) => name.toLowerCase().normalize()
      const { history: sound } = partsOf(store)
      return {
        put: (key, content, options) =>
          store.put({ ...key, name: fold(key.name) }, content, options),
        delete: (key, options) => store.delete({ ...key, name: fold(key.name) }, options),
        history: {
          ...sound,
          versions: (key, options) => sound.versions({ ...key, name: fold(key.name) }, options),
          open: (key, options) => sound.open({ ...key, name: fold(key.name) }, options),
        },
      }
    },
  ),
  broken('counts what is kept as blobs', kept('is no blob'), (store) => ({
    async usage(customer) {
      const { blobs, bytes } = await store.usage(customer)
      const more = await all(partsOf(store).history.kept(customer))
      return { blobs: blobs + more.length, bytes }
    },
  })),
  {
    flaw: 'keeps what it replaces to itself',
    test: kept('is found by every opening'),
    open: async () => harnessOf(() => ({}), { openAgain: async () => createMemoryBlobStore() }),
  },
  broken(
    'opens the newest version for any other one',
    kept('is opened only by its own version'),
    history((sound) => ({
      async open(key, options) {
        const opened = await sound.open(key, options)
        const [newest] = await all(sound.versions(key))
        return opened ?? (newest && sound.open({ ...key, version: newest.version }, options))
      },
    })),
  ),
  broken(
    'has the oldest version first',
    versions('come newest first, each with a version of its own'),
    shown((entries) => entries.toReversed()),
  ),
  broken(
    'keeps each content once',
    versions('keeps the same content twice'),
    shown((entries) =>
      entries.filter((one, at) => entries.findIndex(({ size }) => size === one.size) === at),
    ),
  ),
  broken(
    'begins each page with the version before it',
    versions('come in pages, from any one on'),
    history((sound) => ({
      async *versions(key, { before, limit = Infinity } = {}) {
        const found = await all(sound.versions(key))
        const from = before === undefined ? 0 : found.findIndex((one) => one.version === before)
        const some = found.slice(from, from + limit)
        for (let at = 0; at < some.length; at += 1000) yield some.slice(at, at + 1000)
      },
    })),
  ),
  broken(
    'calls names deleted that have a blob',
    deleted('are those without a blob, each with what was kept last'),
    history((sound) => ({
      async *deleted(customer, options) {
        const last = new Map<string, KeptBlob>()
        for (const one of await all(sound.kept(customer))) {
          if (!last.has(one.name)) last.set(one.name, one)
        }
        yield* options ? sound.deleted(customer, options) : [[...last.values()]]
      },
    })),
  ),
  broken(
    'takes the largest version for the last',
    deleted('have what was kept last, also of a file that was renamed to the name and is older'),
    history((sound) => ({
      async *deleted(customer, options) {
        for (const { name } of await all(sound.deleted(customer, options))) {
          const found = await all(sound.versions({ customer, name }))
          yield found.sort((one, other) => other.size - one.size).slice(0, 1)
        }
      },
    })),
  ),
  broken(
    "has JavaScript's order of names",
    deleted('come in the order of their bytes, in pages and parts'),
    history((sound) => ({
      async *deleted(customer, options) {
        const found = await all(sound.deleted(customer, options))
        if (found.length > 0) yield found.sort((one, other) => (one.name < other.name ? -1 : 1))
      },
    })),
  ),
  broken(
    'calls a renamed file deleted',
    deleted('leave out a name that was renamed away, and one that is used anew'),
    (store) => ({
      async rename(key, to, options) {
        const blob = await store.open(key)
        if (!blob) return undefined
        const info = await store.put({ ...key, name: to }, blob.content, options)
        await store.delete(key, options)
        return info
      },
    }),
  ),
  broken(
    'forgets what a restored version replaces',
    restoring('stores the same bytes anew, and keeps what it replaces'),
    history((sound, store) => ({
      async restore(key, to, options) {
        const opened = await sound.open(key)
        return opened && store.put({ ...key, name: to }, opened.content, options)
      },
    })),
  ),
  broken(
    'forgets a version once it is restored',
    restoring('brings back what was deleted'),
    (store) => {
      const { history: sound } = partsOf(store)
      const gone = new Set<string>()
      return {
        history: {
          ...sound,
          async restore(key, to, options) {
            const restored = await sound.restore(key, to, options)
            gone.add(key.version)
            return restored
          },
          async *versions(key, options) {
            const left = await all(sound.versions(key, options))
            const some = left.filter(({ version }) => !gone.has(version))
            if (some.length > 0) yield some
          },
        },
      }
    },
  ),
  broken(
    'restores only under the same name',
    restoring('restores under another name'),
    history((sound) => ({ restore: (key, _to, options) => sound.restore(key, key.name, options) })),
  ),
  broken(
    'replaces where it must not',
    restoring('refuses a taken name if asked to, and changes nothing'),
    history((sound) => ({ restore: (key, to) => sound.restore(key, to) })),
  ),
  broken(
    'restores the newest version for any other one',
    restoring('finds nothing that is not kept, and changes nothing'),
    history((sound) => ({
      async restore(key, to, options) {
        const restored = await sound.restore(key, to, options)
        const [newest] = await all(sound.versions(key))
        return restored ?? (newest && sound.restore({ ...key, version: newest.version }, to))
      },
    })),
  ),
  broken(
    'restores 10 MiB at most',
    restoring('restores large blobs'),
    history((sound, store) => ({
      async restore(key, to) {
        const opened = await sound.open(key)
        const parts: Uint8Array[] = []
        for await (const part of opened?.content ?? []) parts.push(part)
        const bytes = Buffer.concat(parts).subarray(0, 10 * 1024 * 1024)
        return opened && store.put({ ...key, name: to }, once(bytes), { keepReplaced: true })
      },
    })),
  ),
  broken(
    'removes blobs with what is kept',
    purging('removes what is kept, and no blob'),
    history((sound, store) => ({
      async purge(customer, before) {
        for (const name of await all(store.list(customer))) await store.delete({ customer, name })
        return sound.purge(customer, before)
      },
    })),
  ),
  broken(
    'removes all that was stored before the time',
    purging('leaves what was replaced later, however old it is'),
    history((sound) => ({
      async purge(customer, before) {
        const old = (await all(sound.kept(customer))).some(({ modifiedAt }) => modifiedAt < before)
        return sound.purge(customer, old ? new Date(Date.now() + 1000) : before)
      },
    })),
  ),
  broken(
    'removes what is kept for all customers',
    purging('leaves other customers alone'),
    history((sound) => ({
      async purge(customer, before) {
        for await (const other of sound.customers()) {
          if (other !== customer) await sound.purge(other, before)
        }
        return sound.purge(customer, before)
      },
    })),
  ),
  broken('cuts readers off', purging('lets readers end who have opened a version'), (store) => {
    const { history: sound } = partsOf(store)
    let isPurged = false
    return {
      history: {
        ...sound,
        purge(customer, before) {
          isPurged = true
          return sound.purge(customer, before)
        },
        async open(key, options) {
          const opened = await sound.open(key, options)
          return opened && { ...opened, content: mapChunks(opened.content, untilPurged) }
        },
      },
    }
    function untilPurged(chunk: Uint8Array) {
      return isPurged ? undefined : chunk
    }
  }),
  broken('keeps a name only once', purging('lets a name be kept anew'), (store) => {
    const { history: sound } = partsOf(store)
    let isPurged = false
    return {
      delete: (key, options) => store.delete(key, isPurged ? forgetting : options),
      history: {
        ...sound,
        purge(customer, before) {
          isPurged = true
          return sound.purge(customer, before)
        },
      },
    }
  }),
  broken(
    'keeps only what it found when a put began',
    atOnce('loses nothing when puts of one name meet'),
    (store) => ({
      async put(key, content, options) {
        const found = await store.stat(key)
        await setImmediate()
        const isSame = found?.etag === (await store.stat(key))?.etag
        return store.put(key, content, isSame ? options : { ...options, ...forgetting })
      },
    }),
  ),
  broken(
    'keeps only what it found when a deletion began',
    atOnce('loses nothing when puts, renames and deletions meet'),
    (store) => ({
      async delete(key, options) {
        const found = await store.stat(key)
        for (let turn = 0; turn < 5; turn++) await setImmediate()
        const isSame = found?.etag === (await store.stat(key))?.etag
        return store.delete(key, isSame ? options : forgetting)
      },
    }),
  ),
  broken(
    'purges what is replaced meanwhile',
    atOnce('purges no blob that is put, deleted or restored meanwhile'),
    history((sound) => ({
      async purge(customer) {
        for (let turn = 0; turn < 5; turn++) await setImmediate()
        return sound.purge(customer, new Date(Date.now() + 1000))
      },
    })),
  ),
]

/** The history of a store that cannot be reached; if it is not `isSound`, it takes that for nothing there. */
export function unreachableHistory(isSound: boolean): Methods {
  const refuse = async (): Promise<never> => {
    throw new FileServiceError('store-unavailable', 'refused')
  }
  const refuseList: () => AsyncIterable<never> = async function* () {
    await refuse()
  }
  const sound: History = {
    versions: refuseList,
    deleted: refuseList,
    kept: refuseList,
    open: refuse,
    restore: refuse,
    purge: refuse,
    customers: refuseList,
  }
  return { history: isSound ? sound : { ...sound, open: async () => undefined } }
}
