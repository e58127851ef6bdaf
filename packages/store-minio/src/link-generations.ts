import { hash, randomBytes, randomUUID } from 'node:crypto'
import type { LinkGenerations } from '@holdfast/core'
import { createKeptObjects, type ObjectRead } from './read/get-object.ts'
import { readBlob } from './read/read-blob.ts'
import type { ObjectWrite } from './write/object-write.ts'
import { putObject } from './write/put-object.ts'

/** No blob and no customer has a key below this folder; see `resumable/upload-keys.ts`. Administrators see `links/`. */
const folder = '\u007flinks/'

type Objects = Omit<ObjectWrite, 'key' | 'createOnly' | 'mark'> & Pick<ObjectRead, 'gets'>

/** The generations of links, each in an object of its own. A customer without one has the first. */
export function createLinkGenerations(objects: Objects, prefix: string): LinkGenerations {
  const kept = createKeptObjects(0)
  // By its SHA-256 a customer's name is short and plain.
  const keyOf = (customer: string) => `${prefix}${folder}${hash('sha256', customer)}`
  return {
    async read(customer) {
      const key = keyOf(customer)
      const blob = await readBlob({ ...objects, kept, key, name: key }, {})
      if (!blob) return ''
      const chunks: Uint8Array[] = []
      for await (const chunk of blob.content) chunks.push(chunk)
      const generation = Buffer.concat(chunks).toString('latin1')
      // Links that have ended would be good again.
      if (generation === '') throw new Error(`The object ${key} is damaged: end the links again`)
      return generation
    },
    async renew(customer) {
      const generation = randomBytes(16).toString('hex')
      const write = { ...objects, key: keyOf(customer), createOnly: false, mark: randomUUID() }
      await putObject(write, oneChunk(Buffer.from(generation)), undefined)
      return generation
    },
  }
}

async function* oneChunk(bytes: Uint8Array) {
  yield bytes
}
