import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describeBlobStore, describeHistory } from '@holdfast/contract'
import { makeTemporaryDirectory, type TemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { openDiskBlobStore } from '../src/disk-blob-store.ts'
import { collect } from './collect.ts'
import { findLitter, openDiskHarness } from './disk-harness.ts'
import { describeWithMounts, mountDisk, movingKinds } from './mounted-disk.ts'

const count = 3000
const all = Array.from({ length: count }, (_, index) => `name ${index}`).sort()

/** Processes that replace blobs in `directory`, and the way to kill them. */
async function startOverwriting(directory: string, processes: number) {
  const script = join(import.meta.dirname, 'children/overwrite.ts')
  const children = Array.from({ length: processes }, () =>
    spawn(process.execPath, [script, directory, String(count)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  )
  await Promise.all(children.map((child) => once(child.stdout, 'data')))
  return async () => {
    const ends = children.map((child) => once(child, 'exit'))
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(ends)
  }
}

/** A directory with {@link count} blobs of alice. */
async function fill(directory: string): Promise<void> {
  const files = join(directory, 'files/alice')
  await mkdir(files, { recursive: true })
  for (const name of all) await writeFile(join(files, name), 'x')
}

describeWithMounts('openDiskBlobStore where a file that replaces another moves', function () {
  for (const kind of movingKinds) {
    describe(`on ${kind}`, function () {
      this.timeout(120_000)
      let disk: TemporaryDirectory

      before(async () => {
        disk = await mountDisk(kind)
      })

      after(() => disk[Symbol.asyncDispose]())

      describeBlobStore(kind, async () =>
        openDiskHarness({}, await makeTemporaryDirectory(disk.path)),
      )

      describeHistory(
        kind,
        async () => openDiskHarness({}, await makeTemporaryDirectory(disk.path)),
        { manyVersions: 60 },
      )

      it('lists and counts every file while other processes replace them, and after they were killed', async () => {
        await using place = await makeTemporaryDirectory(disk.path)
        const directory = place.path
        const store = await openDiskBlobStore({ directory })
        await fill(directory)
        const kill = await startOverwriting(directory, 2)
        try {
          for (let round = 1; round <= 10; round++) {
            const found = (await collect(store.list('alice'))).flat()
            expect(found.join('\n') === all.join('\n'), `list ${round}`).to.equal(true)
          }
          expect(await store.usage('alice')).to.deep.equal({ blobs: count, bytes: count })
        } finally {
          await kill()
        }
        expect((await collect(store.list('alice'))).flat()).to.deep.equal(all)
        await store.close()
        await (await openDiskBlobStore({ directory })).close()
        expect(await findLitter(directory)).to.deep.equal([])
        expect(await readdir(join(directory, 'tmp'))).to.deep.equal([])
      })
    })
  }

  it('lists while the disk has no room for the marker of a walk', async () => {
    await using disk = await mountDisk('tmpfs', 'size=64m,nr_inodes=60')
    const store = await openDiskBlobStore({ directory: disk.path })
    const made: string[] = []
    const files = join(disk.path, 'files/alice')
    await mkdir(files)
    while (await hasRoomFor(join(files, String(made.length)))) made.push(String(made.length))
    expect(made.length).to.be.above(10)
    expect((await collect(store.list('alice'))).flat()).to.deep.equal(made.sort())
    expect(await store.usage('alice')).to.deep.equal({ blobs: made.length, bytes: 0 })
    await store.close()
  })
})

async function hasRoomFor(path: string): Promise<boolean> {
  try {
    await appendFile(path, '')
    return true
  } catch {
    return false
  }
}
