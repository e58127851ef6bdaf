import type { BigIntStats } from 'node:fs'
import { randomBytes } from 'node:crypto'
import type { BlobKey, LinkGenerations } from '@holdfast/core'
import type { DataDirectory } from './directory/data-directory.ts'
import { translateFsError, undefinedIfAbsent } from './files/file-calls.ts'
import { atomicWrite, plainWrite } from './write/atomic-write.ts'

/** Short texts that the store keeps for customers, each in a file of its own. */
interface CustomerTexts {
  /** The text, without the line break at its end; `undefined` if there is none. */
  read(key: BlobKey): Promise<string | undefined>
  /** Replaces the text durably, and resolves with the stats of its file. */
  write(key: BlobKey, text: string): Promise<BigIntStats>
}

/** Longer than any text. */
const longest = 256

type Site = Pick<
  DataDirectory,
  'metadataDirectories' | 'tempDirectory' | 'checkMount' | 'calls'
> & {
  /** The number of this process among those that share the directory. */
  readonly writer: number
}

/**
 * Keeps texts in files of `layout`, each at the path of the blob with that key. `afterDamage` ends the error about a damaged file, and says
 * what to do once it is removed.
 */
export function createCustomerTexts(
  layout: DataDirectory['links'],
  { metadataDirectories: directories, tempDirectory, checkMount, calls, writer }: Site,
  afterDamage: string,
): CustomerTexts {
  const readFile = async (path: string): Promise<string | undefined> => {
    const file = await calls.open(path, 'r').catch(undefinedIfAbsent)
    if (file === undefined) return undefined
    try {
      const bytes = Buffer.alloc(longest)
      return bytes.toString('latin1', 0, await calls.read(file, bytes, 0)).trim()
    } finally {
      await calls.close(file)
    }
  }

  return {
    async read(key) {
      const path = layout.blobPath(key)
      const text = await translateFsError(readFile(path))
      if (text === '') throw new Error(`${path} is damaged: remove it${afterDamage}`)
      // Without the disk, every text would be missing.
      if (text === undefined) await checkMount()
      return text
    },
    write: (key, text) =>
      atomicWrite({
        ...{ calls, tempDirectory, directories, writer, target: layout.blobPath(key) },
        content: oneChunk(Buffer.from(`${text}\n`)),
        ...plainWrite,
      }),
  }
}

async function* oneChunk(bytes: Uint8Array) {
  yield bytes
}

/** The generations of links, each in a file of its own below `links/`; see the README. A customer without one has the first. */
export function createLinkGenerations(texts: CustomerTexts): LinkGenerations {
  const keyOf = (customer: string) => ({ customer, name: 'generation' })
  return {
    read: async (customer) => (await texts.read(keyOf(customer))) ?? '',
    async renew(customer) {
      const generation = randomBytes(16).toString('hex')
      await texts.write(keyOf(customer), generation)
      return generation
    },
  }
}
