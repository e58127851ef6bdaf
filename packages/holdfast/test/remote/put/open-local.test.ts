import { execFile } from 'node:child_process'
import { rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { openFile } from '@holdfast/client'
import { makeTemporaryDirectory, rejection, type TemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { openLocal } from '../../../src/remote/put/put.ts'

describe('openLocal', () => {
  let directory: TemporaryDirectory
  beforeEach(async () => {
    directory = await makeTemporaryDirectory()
    await writeFile(path(), 'one')
    await writeFile(`${path()}.new`, 'two')
  })
  afterEach(() => directory.remove())
  const path = () => join(directory.path, 'file')
  const replace = () => rename(`${path()}.new`, path())

  it('has the version of the file that it has opened, and not of the one before', async () => {
    const { body, version } = await openLocal(path(), async (place) => {
      await replace()
      return openFile(place)
    })
    expect(version?.ino).to.equal((await stat(path(), { bigint: true })).ino)
    expect(await contentOf(body)).to.equal('two')
  })

  it('has no content with a version of another file', async () => {
    const { body } = await openLocal(path(), async (place) => {
      const opened = await openFile(place)
      await replace()
      return opened
    })
    expect(await rejection(contentOf(body))).to.include({ code: 'changed-meanwhile' })
  })

  it('reads a pipe', async () => {
    const pipe = join(directory.path, 'pipe')
    await promisify(execFile)('mkfifo', [pipe])
    const { body, version } = await openLocal(pipe)
    expect(version).to.equal(undefined)
    const [content] = await Promise.all([contentOf(body), writeFile(pipe, 'piped')])
    expect(content).to.equal('piped')
  })

  const contentOf = async (body: Awaited<ReturnType<typeof openLocal>>['body']) =>
    'size' in body ? text(body.slice(0, body.size) as AsyncIterable<Uint8Array>) : text(body)
})
