import { FileServiceError, type BlobStore, type Expiry } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { broken, harnessOf, once, type BrokenStore, type Methods } from './broken-store.ts'

/** A flaw in the expiry alone: `change` gets the sound one. */
const expiry =
  (change: (sound: Expiry, store: BlobStore) => Partial<Expiry>) =>
  (store: BlobStore): Methods => {
    const sound = store.expiry
    if (sound === undefined) throw new TypeError('The memory store has expiry')
    return { expiry: { ...sound, ...change(sound, store) } }
  }

const deletion = (fact: string) => `deletion of what is unchanged > ${fact}`
const note = (fact: string) => `notes > ${fact}`

/** Looks, and deletes a moment later what is there then. */
const lookAndDelete = (_sound: Expiry, store: BlobStore): Partial<Expiry> => ({
  async deleteUnchanged(key, etag) {
    if ((await store.stat(key))?.etag !== etag) return false
    await new Promise((resolve) => setTimeout(resolve, 10))
    return store.delete(key)
  },
})

export const expiryFlaws: readonly BrokenStore[] = [
  broken(
    'deletes everything of the customer',
    deletion('deletes a blob that has the entity tag, and no other one'),
    expiry((sound, store) => ({
      async deleteUnchanged(key, etag) {
        const isDeleted = await sound.deleteUnchanged(key, etag)
        for await (const page of store.list(key.customer)) {
          for (const name of page) await store.delete({ ...key, name })
        }
        return isDeleted
      },
    })),
  ),
  broken(
    'does not look at the entity tag',
    deletion('keeps a blob that has replaced the one with the entity tag'),
    expiry((_sound, store) => ({ deleteUnchanged: (key) => store.delete(key) })),
  ),
  broken(
    'folds case and form of names',
    deletion('finds a blob of another opening, of whatever name'),
    expiry((sound) => ({
      deleteUnchanged: ({ customer, name }, etag) =>
        sound.deleteUnchanged({ customer, name: name.toLowerCase().normalize() }, etag),
    })),
  ),
  broken(
    'deletes what was put since its look',
    deletion('loses no blob that is put at the same time'),
    expiry(lookAndDelete),
  ),
  broken(
    'deletes what was renamed since its look',
    deletion('loses no blob that is renamed to the name at the same time'),
    expiry(lookAndDelete),
  ),
  broken('cuts readers off', deletion('lets readers end who have opened the blob'), (store) => {
    const sound = store.expiry
    if (sound === undefined) throw new TypeError('The memory store has expiry')
    let isDeleted = false
    return {
      expiry: {
        ...sound,
        async deleteUnchanged(key, etag) {
          isDeleted = true
          return sound.deleteUnchanged(key, etag)
        },
      },
      async open(key, options) {
        const blob = await store.open(key, options)
        const content = async function* () {
          for await (const chunk of blob?.content ?? []) {
            if (isDeleted) throw new Error('gone')
            yield chunk
          }
        }
        return blob && { ...blob, content: content() }
      },
    }
  }),
  broken(
    'begins with another note',
    note('are empty before the first'),
    expiry((sound) => ({ readNote: async (customer) => (await sound.readNote(customer)) || '0' })),
  ),
  broken(
    'keeps only the beginning of a note',
    note('replace each other, and say when they were written'),
    expiry((sound) => ({
      writeNote: (customer, text) => sound.writeNote(customer, text.slice(0, 100)),
    })),
  ),
  broken(
    'folds case and form of customers',
    note('belong to one customer, of whatever name'),
    expiry((sound) => ({
      readNote: (customer) => sound.readNote(customer.toLowerCase().normalize()),
      writeNote: (customer, text) => sound.writeNote(customer.toLowerCase().normalize(), text),
    })),
  ),
  {
    flaw: 'keeps notes to itself',
    test: note('are read by every opening'),
    open: async () => harnessOf(() => ({}), { openAgain: async () => createMemoryBlobStore() }),
  },
  broken(
    'keeps notes as blobs',
    note('are no blobs, and no generations of links'),
    expiry((sound, store) => ({
      async writeNote(customer, text) {
        await store.put({ customer, name: 'note' }, once(new Uint8Array(1)))
        return sound.writeNote(customer, text)
      },
    })),
  ),
]

/** Expiry of a store that cannot be reached; if it is not `isSound`, it takes that for nothing there. */
export function unreachableExpiry(isSound: boolean): Methods {
  const refuse = async (): Promise<never> => {
    throw new FileServiceError('store-unavailable', 'refused')
  }
  const readNote = isSound ? refuse : async () => ''
  return { expiry: { deleteUnchanged: refuse, readNote, writeNote: refuse } }
}
