import { setImmediate } from 'node:timers/promises'
import { FileServiceError, type BlobInfo, type BlobKey, type BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { broken, harnessOf, type BrokenStore, type Methods } from './broken-store.ts'

type Rename = NonNullable<BlobStore['rename']>

/** A flaw in `rename` alone: `change` gets the sound one. */
const renaming =
  (change: (rename: Rename, store: BlobStore) => Rename) =>
  (store: BlobStore): Methods => {
    const rename = store.rename?.bind(store)
    if (rename === undefined) throw new TypeError('The memory store renames')
    return { rename: change(rename, store) }
  }

/** A rename in several steps, between which others get their turns. */
const inSteps = (
  steps: (blob: {
    readonly store: BlobStore
    readonly copy: () => Promise<BlobInfo>
    readonly leave: () => Promise<boolean>
    readonly isTaken: () => Promise<boolean>
  }) => Promise<BlobInfo>,
) =>
  renaming((_rename, store) => async (key, to, options) => {
    const blob = await store.open(key)
    if (!blob) return undefined
    const target = { ...key, name: to }
    const isTaken = async () => (await store.stat(target)) !== undefined
    if (options?.createOnly && (await isTaken())) throw taken()
    for (let count = 0; count < 5; count++) await setImmediate()
    const copy = () => store.put(target, blob.content)
    return steps({ store, copy, leave: () => store.delete(key), isTaken })
  })

const taken = () => new FileServiceError('already-exists', 'The name is taken')

/** A store that does something else once a blob was renamed. */
const afterwards =
  (change: (store: BlobStore, renamed: ReadonlySet<string>) => Methods) =>
  (store: BlobStore): Methods => {
    const renamed = new Set<string>()
    const { rename } = renaming((sound) => async (key, to, options) => {
      const info = await sound(key, to, options)
      renamed.add(key.name)
      return info
    })(store)
    return { ...(rename && { rename }), ...change(store, renamed) }
  }

async function* cut(): AsyncIterable<Uint8Array> {}

/** A store in which blobs opened before a rename of `isCut` names end early. */
const cuttingReaders = (isCut: (key: BlobKey, from: string, to: string) => boolean) => {
  return (store: BlobStore): Methods => {
    const changed: { readonly from: string; readonly to: string }[] = []
    const { rename } = renaming((sound) => async (key, to, options) => {
      changed.push({ from: key.name, to })
      return sound(key, to, options)
    })(store)
    return {
      ...(rename && { rename }),
      async open(key, options) {
        const blob = await store.open(key, options)
        if (!blob) return undefined
        const before = changed.length
        async function* content() {
          const isBroken = changed.slice(before).some(({ from, to }) => isCut(key, from, to))
          yield* isBroken ? cut() : (blob?.content ?? [])
        }
        return { ...blob, content: content() }
      },
    }
  }
}

/** Two openings that share blobs, of which each is told of renames by itself alone. */
async function openApart(): Promise<ReturnType<typeof harnessOf>> {
  const harness = harnessOf()
  const stale = createMemoryBlobStore()
  const { store } = harness
  const both: BlobStore = {
    ...store,
    async put(key, content, options) {
      const info = await store.put(key, content, options)
      const copy = await store.open(key)
      if (copy) await stale.put(key, copy.content)
      return info
    },
  }
  return { ...harness, store: both, openAgain: async () => stale }
}

/** A race in which the name may be taken between the look and the copy. */
const racing = inSteps(async ({ copy, leave }) => {
  const info = await copy()
  await leave()
  return info
})

const titles = (group: string, test: string) =>
  ['replacing', 'create-only'].map((way) => `${group} > ${test}, ${way}`)

const inBothWays = (flaw: string, group: string, test: string, flawed: typeof racing) =>
  titles(group, test).map((title) => broken(flaw, title, flawed))

export const renamingFlaws: readonly BrokenStore[] = [
  ...[0, 1, 200_000, 5_242_881].flatMap((size) =>
    inBothWays(
      'keeps the earlier name',
      'a new name',
      `moves a blob of ${size} bytes`,
      renaming((_rename, store) => async (key, to) => {
        const blob = await store.open(key)
        return blob && store.put({ ...key, name: to }, blob.content)
      }),
    ),
  ),
  ...inBothWays(
    'makes an empty blob of none',
    'a new name',
    'finds no blob under a free name, and changes nothing',
    renaming((rename, store) => async (key, to, options) => {
      return (await rename(key, to, options)) ?? store.put({ ...key, name: to }, cut())
    }),
  ),
  broken(
    'folds case and form',
    'a new name > keeps names of every form',
    renaming((rename) => (key, to) => rename(key, to.toLowerCase().normalize())),
  ),
  broken(
    'renames the blobs of all',
    'a new name > leaves blobs of the same names of other customers alone',
    renaming((rename) => async (key, to, options) => {
      await rename({ ...key, customer: 'bob' }, to, options)
      return rename(key, to, options)
    }),
  ),
  broken(
    'keeps the earlier name occupied',
    'a new name > lets the earlier name be used anew',
    afterwards((store, renamed) => ({
      async put(key, content, options) {
        if (options?.createOnly && renamed.has(key.name)) throw taken()
        return store.put(key, content, options)
      },
    })),
  ),
  broken(
    'gives no blob a name that another one had',
    'a new name > renames a blob back',
    renaming((rename) => {
      const left = new Set<string>()
      return async (key, to, options) => {
        if (left.has(to)) throw taken()
        left.add(key.name)
        return rename(key, to, options)
      }
    }),
  ),
  broken(
    'ends the readers of what it renames',
    'a new name > leaves a blob that is being read alone',
    cuttingReaders(({ name }, from) => name === from),
  ),
  broken(
    'never replaces',
    'a taken name > replaces the blob of the new name, if it is not create-only',
    renaming((rename) => (key, to) => rename(key, to, { createOnly: true })),
  ),
  broken(
    'gives a time of long ago',
    'a taken name > never sets back the time of a name',
    renaming((rename) => async (key, to, options) => {
      const info = await rename(key, to, options)
      return info && { ...info, modifiedAt: new Date(0) }
    }),
  ),
  broken(
    'ends the readers of what it replaces',
    'a taken name > leaves a reader of the replaced blob alone',
    cuttingReaders(({ name }, _from, to) => name === to),
  ),
  broken(
    'replaces though it must not',
    'a taken name > refuses a taken name, if it is create-only, and changes nothing',
    renaming((rename) => (key, to) => rename(key, to)),
  ),
  broken(
    'takes a put that has begun for a blob',
    'a taken name > takes no name of a put that is not published',
    (store) => {
      const begun = new Set<string>()
      const { rename } = renaming((sound) => async (key, to, options) => {
        if (options?.createOnly && begun.has(to)) throw taken()
        return sound(key, to, options)
      })(store)
      return {
        ...(rename && { rename }),
        put(key, content, options) {
          begun.add(key.name)
          return store.put(key, content, options)
        },
      }
    },
  ),
  broken(
    'renames the blobs to come as well',
    'a taken name > publishes a put under the earlier name that had begun before',
    (store) => {
      const others = new Map<string, string>()
      const { rename } = renaming((sound) => async (key, to, options) => {
        others.set(key.name, to)
        return sound(key, to, options)
      })(store)
      return {
        ...(rename && { rename }),
        async put(key, content, options) {
          const info = await store.put(key, content, options)
          const other = others.get(key.name)
          if (other !== undefined) await store.rename?.(key, other)
          return info
        },
      }
    },
  ),
  ...inBothWays(
    'copies, and deletes afterwards',
    'at once',
    'renames a blob once, however many renames come at once',
    racing,
  ),
  ...inBothWays(
    'has no name for the blob in between',
    'at once',
    'shows a blob under a name at any time while it is renamed',
    inSteps(async ({ copy, leave }) => {
      await leave()
      for (let count = 0; count < 5; count++) await setImmediate()
      return copy()
    }),
  ),
  broken(
    'copies, and deletes afterwards',
    'at once > renames a blob once to one name, replacing and create-only',
    racing,
  ),
  broken(
    'looks, and copies afterwards',
    'at once > lets exactly one of ten create-only renames to one name succeed',
    racing,
  ),
  broken(
    'deletes what was put meanwhile',
    'at once > loses no put to the earlier name, and none to the new one',
    racing,
  ),
  {
    flaw: 'keeps its renames to itself',
    test: 'between openings > shows another opening the new name once rename has resolved',
    open: openApart,
  },
  {
    flaw: 'looks at its own names alone',
    test: 'between openings > lets exactly one of ten create-only renames through two openings succeed',
    open: openApart,
  },
]
