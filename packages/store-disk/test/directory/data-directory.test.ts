import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { messageOf } from '@holdfast/core'
import { openDiskBlobStore, type DiskBlobStoreOptions } from '../../src/disk-blob-store.ts'

async function opening(options: DiskBlobStoreOptions): Promise<string> {
  try {
    await (await openDiskBlobStore(options)).close()
    return 'opened'
  } catch (error) {
    return messageOf(error)
  }
}

async function* text(content: string) {
  yield Buffer.from(content)
}

describe('openDiskBlobStore on a directory', () => {
  it('makes a new one with its parents, and marks it', async () => {
    await using place = await makeTemporaryDirectory()
    const directory = join(place.path, 'deep', 'down')
    expect(await opening({ directory, names: 'plain' })).to.equal('opened')
    const layoutFile = await readFile(join(directory, 'holdfast.json'), 'utf8')
    expect(layoutFile).to.match(/^\{"layout":1,"names":"plain","id":"[0-9a-f-]{36}"\}\n$/)
    expect((await readdir(directory)).sort()).to.deep.equal(['files', 'holdfast.json', 'tmp'])
    expect(await readdir(join(directory, 'tmp'))).to.deep.equal([])
  })

  it('keeps the kind of names that a directory has', async () => {
    await using place = await makeTemporaryDirectory()
    const directory = place.path
    expect(await opening({ directory, names: 'escaped' })).to.equal('opened')
    const store = await openDiskBlobStore({ directory, names: 'plain' })
    await store.put({ customer: 'a', name: 'B' }, text('content'))
    await store.close()
    expect(await readdir(join(directory, 'files', 'a'))).to.deep.equal(['%42'])
  })

  it('opens a new one from many processes at once', async () => {
    await using place = await makeTemporaryDirectory()
    const directory = join(place.path, 'data')
    const openings = Array.from({ length: 8 }, () => opening({ directory }))
    expect(new Set(await Promise.all(openings))).to.deep.equal(new Set(['opened']))
  })

  it('refuses a newer layout, and says what to do', async () => {
    await using place = await makeTemporaryDirectory()
    await writeFile(join(place.path, 'holdfast.json'), '{"layout":2,"names":"plain"}')
    const message = await opening({ directory: place.path })
    expect(message).to.include(place.path).and.include('version 2').and.include('version 1')
    expect(message).to.include('Start the newer holdfast')
    expect(await readdir(place.path)).to.deep.equal(['holdfast.json'])
  })

  it('refuses a damaged layout file', async () => {
    for (const damaged of ['', '{', 'null', '{"layout":1}', '{"layout":"1","names":"plain"}']) {
      await using place = await makeTemporaryDirectory()
      await writeFile(join(place.path, 'holdfast.json'), damaged)
      expect(await opening({ directory: place.path }), damaged).to.include('is damaged')
    }
  })

  it('refuses a directory of another program and leaves it alone', async () => {
    await using place = await makeTemporaryDirectory()
    await writeFile(join(place.path, 'thesis.tex'), 'text')
    const message = await opening({ directory: place.path })
    expect(message).to.include('"thesis.tex"').and.include('Choose a new or empty directory')
    expect(await readdir(place.path)).to.deep.equal(['thesis.tex'])
  })

  it('takes the top of a disk, where lost+found is', async () => {
    await using place = await makeTemporaryDirectory()
    await mkdir(join(place.path, 'lost+found'))
    expect(await opening({ directory: place.path })).to.equal('opened')
  })
})
