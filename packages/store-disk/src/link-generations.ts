import { randomBytes } from 'node:crypto'
import type { LinkGenerations } from '@holdfast/core'
import { isAbsence, translateFsError } from './files/translate-fs-error.ts'
import { noReplacements } from './temp/replacement-journal.ts'
import { atomicWrite } from './write/atomic-write.ts'
import type { DataDirectory } from './directory/data-directory.ts'

/** Longer than a generation. */
const longest = 256

/** The generations of links, each in a file of its own below `links/`; see the README. A customer without one has the first. */
export function createLinkGenerations(
  {
    links,
    uploadDirectories: directories,
    tempDirectory,
    checkMount,
    calls,
  }: Pick<DataDirectory, 'links' | 'uploadDirectories' | 'tempDirectory' | 'checkMount' | 'calls'>,
  writer: number,
): LinkGenerations {
  const pathOf = (customer: string) => links.blobPath({ customer, name: 'generation' })

  const readFile = async (path: string): Promise<string | undefined> => {
    let file: number
    try {
      file = await calls.open(path, 'r')
    } catch (error) {
      if (isAbsence(error)) return undefined
      throw error
    }
    try {
      const bytes = Buffer.alloc(longest)
      return bytes.toString('latin1', 0, await calls.read(file, bytes, 0)).trim()
    } finally {
      await calls.close(file)
    }
  }

  return {
    async read(customer) {
      const path = pathOf(customer)
      const generation = await translateFsError(readFile(path))
      if (generation === '')
        throw new Error(`${path} is damaged: remove it and end the links again`)
      // Without the disk, links that have ended would be good again.
      if (generation === undefined) await checkMount()
      return generation ?? ''
    },
    async renew(customer) {
      const generation = randomBytes(16).toString('hex')
      await atomicWrite({
        ...{ calls, tempDirectory, directories, writer, target: pathOf(customer) },
        content: oneChunk(Buffer.from(`${generation}\n`)),
        ...{ createOnly: false, signal: undefined, release: undefined, onReadable: undefined },
        journal: noReplacements,
        beforeReplacing: async () => {},
      })
      return generation
    },
  }
}

async function* oneChunk(bytes: Uint8Array) {
  yield bytes
}
