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
  async deleteUnchanged(customer, { name, etag }) {
    if ((await store.stat({ customer, name }))?.etag !== etag) return false
    await new Promise((resolve) => setTimeout(resolve, 10))
    return store.delete({ customer, name })
  },
})

export const expiryFlaws: readonly BrokenStore[] = [
  broken(
    'deletes everything of the customer',
    deletion('deletes the blob that was described, and no other one'),
    expiry((sound, store) => ({
      async deleteUnchanged(customer, blob) {
        const isDeleted = await sound.deleteUnchanged(customer, blob)
        for await (const page of store.list(customer)) {
          for (const name of page) await store.delete({ customer, name })
        }
        return isDeleted
      },
    })),
  ),
  broken(
    'does not look at the entity tag',
    deletion('keeps a blob that has replaced the one that was described'),
    expiry((_sound, store) => ({
      deleteUnchanged: (customer, { name }) => store.delete({ customer, name }),
    })),
  ),
  broken(
    'compares only the content',
    deletion('keeps a blob of the same content that was put later'),
    expiry((_sound, store) => ({
      async deleteUnchanged(customer, { name, size }) {
        const key = { customer, name }
        return (await store.stat(key))?.size === size && store.delete(key)
      },
    })),
  ),
  broken(
    'knows only the times that a put has returned',
    deletion('deletes a blob that a list has described'),
    (store) => {
      const returned = new Map<string, Date>()
      const sound = store.expiry
      if (sound === undefined) throw new TypeError('The memory store has expiry')
      return {
        async put(key, content, options) {
          const info = await store.put(key, content, options)
          const shown = { ...info, modifiedAt: new Date(info.modifiedAt.getTime() + 1) }
          returned.set(key.name, shown.modifiedAt)
          return shown
        },
        expiry: {
          ...sound,
          deleteUnchanged: async (customer, blob) =>
            returned.get(blob.name)?.getTime() === blob.modifiedAt.getTime() &&
            sound.deleteUnchanged(customer, blob),
        },
      }
    },
  ),
  broken(
    'folds case and form of names',
    deletion('finds a blob of another opening, of whatever name'),
    expiry((sound) => ({
      deleteUnchanged: (customer, blob) =>
        sound.deleteUnchanged(customer, { ...blob, name: blob.name.toLowerCase().normalize() }),
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
