import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { openDiskBlobStore } from '../src/disk-blob-store.ts'
import { collect } from './collect.ts'
import { findLitter } from './disk-harness.ts'

async function* text(content: string | Uint8Array) {
  yield Buffer.from(content)
}

async function openWithCustomer() {
  const place = await makeTemporaryDirectory()
  const store = await openDiskBlobStore({ directory: place.path, names: 'plain' })
  await store.put({ customer: 'alice', name: 'blob' }, text('content'))
  return {
    store,
    directory: place.path,
    files: join(place.path, 'files', 'alice'),
    async [Symbol.asyncDispose]() {
      await store.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

const key = (name: string) => ({ customer: 'alice', name })

describe('openDiskBlobStore, where an administrator put something in a customer’s directory', () => {
  it('takes symbolic links, directories, pipes and names that are not UTF-8 for no blobs', async () => {
    await using opened = await openWithCustomer()
    const { store, directory, files } = opened
    await writeFile(join(directory, 'secret'), 'secret')
    await symlink(join(directory, 'secret'), join(files, 'link'))
    await symlink('nowhere', join(files, 'dangling'))
    await mkdir(join(files, 'directory'))
    execFileSync('mkfifo', [join(files, 'pipe')])
    await writeFile(Buffer.concat([Buffer.from(files + '/'), Buffer.from([0xff, 0x41])]), 'x')
    for (const name of ['link', 'dangling', 'directory', 'pipe', '\ufffdA']) {
      expect(await store.open(key(name)), name).to.equal(undefined)
      expect(await store.stat(key(name)), name).to.equal(undefined)
      expect(await store.delete(key(name)), name).to.equal(false)
    }
    expect((await collect(store.list('alice'))).flat()).to.deep.equal(['blob'])
    expect(await store.usage('alice')).to.deep.equal({ blobs: 1, bytes: 7 })
  })

  it('takes for customers the directories that have a name, and links to such', async () => {
    await using opened = await openWithCustomer()
    const { store, directory } = opened
    const root = join(directory, 'files')
    await mkdir(join(directory, 'elsewhere'))
    await symlink(join(directory, 'elsewhere'), join(root, 'moved'))
    await symlink('nowhere', join(root, 'dangling'))
    await writeFile(join(root, 'a file'), 'x')
    await mkdir(join(root, 'a\u0001control'))
    await mkdir(Buffer.concat([Buffer.from(root + '/'), Buffer.from([0xff])]))
    expect(await collect(store.customers())).to.deep.equal(['alice', 'moved'])
  })

  it('replaces a symbolic link and leaves alone what it leads to', async () => {
    await using opened = await openWithCustomer()
    const { store, directory, files } = opened
    await writeFile(join(directory, 'secret'), 'secret')
    await symlink(join(directory, 'secret'), join(files, 'link'))
    await store.put(key('link'), text('mine'))
    expect(await readFile(join(directory, 'secret'), 'utf8')).to.equal('secret')
    expect(await readFile(join(files, 'link'), 'utf8')).to.equal('mine')
  })

  it('fails aloud and without litter where a directory has the name', async () => {
    await using opened = await openWithCustomer()
    const { store, directory, files } = opened
    await mkdir(join(files, 'taken'))
    const failure = await store.put(key('taken'), text('mine')).catch((error: unknown) => error)
    expect(failure).to.have.property('code', 'EISDIR')
    expect(await findLitter(directory)).to.deep.equal([])
  })

  it('finds a file that was copied in, and stores into a directory that was removed', async () => {
    await using opened = await openWithCustomer()
    const { store, files } = opened
    await writeFile(join(files, 'copied'), 'by hand')
    expect((await collect(store.list('alice'))).flat()).to.deep.equal(['blob', 'copied'])
    execFileSync('rm', ['-r', files])
    await store.put(key('again'), text('content'))
    await store.put(key('created'), text('content'), { createOnly: true })
    expect((await collect(store.list('alice'))).flat()).to.deep.equal(['again', 'created'])
  })

  it('fails a download whose file is cut short, instead of ending it', async () => {
    await using opened = await openWithCustomer()
    const { store, files } = opened
    await store.put(key('long'), text(new Uint8Array(2_000_000)))
    const blob = await store.open(key('long'))
    await truncate(join(files, 'long'), 1_000_000)
    const failure = await collect(blob!.content).catch((error: unknown) => error)
    expect(failure).to.have.property('message').that.includes('became shorter')
  })

  it('never takes a failure for absence', async () => {
    await using opened = await openWithCustomer()
    const { store, files } = opened
    if (process.getuid?.() === 0) {
      // Nobody refuses root; a loop of links fails for everybody.
      execFileSync('rm', ['-r', files])
      await symlink('alice', files)
    } else {
      await chmod(files, 0)
    }
    const code = process.getuid?.() === 0 ? 'ELOOP' : 'EACCES'
    const attempts = [
      store.stat(key('blob')),
      store.delete(key('blob')),
      store.usage('alice'),
      collect(store.list('alice')),
      collect(store.listDetails('alice')),
    ]
    for (const attempt of await Promise.allSettled(attempts)) {
      expect(attempt).to.have.nested.property('reason.code', code)
    }
    if (code === 'EACCES') await chmod(files, 0o700)
  })
})
