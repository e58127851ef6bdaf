import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { createFileService, type FileServiceOptions } from '../../src/file-service.ts'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { textOf } from '../content.ts'
import { refusal } from '../rejection.ts'

const alice = { name: 'alice' }

function open(options: Partial<FileServiceOptions> = {}) {
  const store = createMemoryBlobStore()
  const service = createFileService({ store, createSha256: () => createHash('sha256'), ...options })
  const files = service.filesOf(alice)
  if (!files.resumable) throw new Error('The memory store keeps uploads in pieces')
  return { store, service, files, resumable: files.resumable }
}

async function contentOf(
  files: { serve: (name: string) => Promise<{ content: AsyncIterable<Uint8Array> }> },
  name: string,
) {
  return textOf((await files.serve(name)).content)
}

describe('resumable', () => {
  it('publishes the file when its length is reached, and not before', async () => {
    const { files, resumable } = open()
    const { id } = await resumable.begin('a', { length: 6 })
    expect((await resumable.append(id, 0, 'abc')).offset).to.equal(3)
    expect(await refusal(files.stat('a'))).to.equal('not-found')
    const { offset, published } = await resumable.append(id, 3, 'def')
    expect({ offset, name: published?.name, size: published?.size }).to.deep.equal({
      offset: 6,
      name: 'a',
      size: 6,
    })
    expect(await contentOf(files, 'a')).to.equal('abcdef')
  })
})
