import { FileServiceError, type BlobStore, type LinkGenerations } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { broken, harnessOf, once, type BrokenStore, type Methods } from './broken-store.ts'

/** A flaw in the generations alone: `change` gets the sound ones. */
const generations =
  (change: (sound: LinkGenerations, store: BlobStore) => Partial<LinkGenerations>) =>
  (store: BlobStore): Methods => {
    const sound = store.linkGenerations
    if (sound === undefined) throw new TypeError('The memory store has generations')
    return { linkGenerations: { ...sound, ...change(sound, store) } }
  }

const test = (fact: string) => `generations > ${fact}`

export const generationFlaws: readonly BrokenStore[] = [
  broken(
    'begins with another one',
    test('begin with the empty one'),
    generations((sound) => ({ read: async (customer) => (await sound.read(customer)) || '0' })),
  ),
  broken(
    'counts to three',
    test('are never the same again'),
    generations(() => {
      let count = 0
      return {
        read: async () => (count === 0 ? '' : `${count % 3}`),
        renew: async () => `${++count % 3}`,
      }
    }),
  ),
  broken(
    'folds case and form of customers',
    test('belong to one customer, of whatever name'),
    generations((sound) => ({
      read: (customer) => sound.read(customer.toLowerCase().normalize()),
      renew: (customer) => sound.renew(customer.toLowerCase().normalize()),
    })),
  ),
  broken(
    'goes back to the one before',
    test('are new for all, of however many that begin at once'),
    generations((sound) => {
      let first: string | undefined
      return {
        read: async (customer) => first ?? sound.read(customer),
        renew: async (customer) => (first ??= await sound.renew(customer)),
      }
    }),
  ),
  {
    flaw: 'keeps them to itself',
    test: test('are read by every opening'),
    open: async () => harnessOf(() => ({}), { openAgain: async () => createMemoryBlobStore() }),
  },
  broken(
    'keeps them as blobs',
    test('are no blobs'),
    generations((sound, store) => ({
      async renew(customer) {
        await store.put({ customer, name: 'generation' }, once(new Uint8Array(1)))
        return sound.renew(customer)
      },
    })),
  ),
]

/** Generations of a store that cannot be reached; if they are not `isSound`, they say that no customer has ended links. */
export function unreachableGenerations(isSound: boolean): Methods {
  const refuse = async (): Promise<never> => {
    throw new FileServiceError('store-unavailable', 'refused')
  }
  return { linkGenerations: { read: isSound ? refuse : async () => '', renew: refuse } }
}
