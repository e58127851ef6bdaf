import { access, constants, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Layout } from '../directory/layout.ts'
import { noReplacements } from '../temp/replacement-journal.ts'
import { atomicWrite, type AtomicWrite } from './atomic-write.ts'
import { removeFile } from './remove-file.ts'

/** What a probe needs of a store. */
export type ProbedDirectory = Pick<AtomicWrite, 'calls' | 'tempDirectory' | 'writer'> & {
  readonly layout: Layout
}

const content = Buffer.from('holdfast')

let probes = 0

/**
 * Writes a small file durably, reads it, and removes it for good, by the same steps as a blob's, but in the store's own
 * directory for temporary files, where the next start finds what a killed one leaves. Looks besides whether files may be
 * made and read where the blobs are. Rejects with what fails.
 */
export async function probeDirectory({ layout, ...store }: ProbedDirectory): Promise<void> {
  await access(layout.root, constants.R_OK | constants.W_OK | constants.X_OK)
  // No name of a temporary file has a dot.
  const target = join(store.tempDirectory.path, `probe.${probes++}`)
  try {
    await atomicWrite({ ...plainly, ...store, target, content: chunks() })
    if (!content.equals(await readFile(target))) {
      throw new Error('What was written has come back as something else')
    }
    await removeFile(target)
  } catch (error) {
    await store.tempDirectory.remove(target)
    throw error
  }
}

async function* chunks() {
  yield content
}

/** Nothing of what else a write may be told; the directory of temporary files is made by whoever makes one of these. */
const plainly = {
  directories: { ensure: async () => {}, forget() {} },
  journal: noReplacements,
  createOnly: false,
  signal: undefined,
  release: undefined,
}
