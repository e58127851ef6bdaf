import { hash, randomUUID, randomBytes } from 'node:crypto'
import type { LinkGenerations } from '@holdfast/core'
import { translating } from './http/s3-errors.ts'
import { createKeptObjects, type ObjectRead } from './read/get-object.ts'
import { readBlob } from './read/read-blob.ts'
import { findObject } from './read/stat-object.ts'
import type { ObjectWrite } from './write/object-write.ts'
import type { OwnObjects } from './write/own-objects.ts'
import { putObject } from './write/put-object.ts'

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
