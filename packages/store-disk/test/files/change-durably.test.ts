import { fstatSync } from 'node:fs'
import { mkdir, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory, openFilesIn } from '@holdfast/testing'
import { expect } from 'chai'
import { changeDurably } from '../../src/files/change-durably.ts'
import { pooledCalls } from '../../src/files/file-calls.ts'
import { replaceSync } from '../file-calls-intercepted.ts'
import { systemError } from '../full-disk.ts'

/** A directory with files that can be renamed within it. */
async function makePlace() {
  const place = await makeTemporaryDirectory()
  const directory = join(place.path, 'alice')
  await mkdir(directory)
  const make = async (name: string) => {
    await writeFile(join(place.path, name), name)
    await rename(join(place.path, name), join(directory, name))
  }
  return {
    path: place.path,
    directory,
    /** Gives a file its name in the directory. */
    make,
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  }
}

describe('changeDurably', () => {
  it('makes changes while the directory is being synced, and syncs once for all of them', async () => {
    await using place = await makePlace()
    const { directory, make } = place
    const done: string[] = []
    const first = Promise.withResolvers<undefined>()
    const others = Promise.withResolvers<undefined>()
    let syncs = 0
    using _ = replaceSync('fsync', async (_directory, real) => {
      done.push('sync begins')
      if (++syncs === 1) {
        first.resolve(undefined)
        await others.promise
      }
      await real()
      done.push('sync ends')
    })
    const change = (name: string) => async () => {
      await make(name)
      done.push(name)
      if (done.length === 4) others.resolve(undefined)
    }
    const changes = [changeDurably(directory, change('a'))]
    await first.promise
    changes.push(...['b', 'c'].map((name) => changeDurably(directory, change(name))))
    await Promise.all(changes)
    expect(done.slice(0, 2)).to.deep.equal(['a', 'sync begins'])
    expect(done.slice(2, 4)).to.have.members(['b', 'c'])
    expect(done.slice(4)).to.deep.equal(['sync ends', 'sync begins', 'sync ends'])
    expect(await openFilesIn(place.path)).to.deep.equal([])
  })

  it('resolves no change before the sync that follows it', async () => {
    await using place = await makePlace()
    const { directory, make } = place
    const made = new Set<string>()
    const synced = new Set<string>()
    using _ = replaceSync('fsync', async (_directory, real) => {
      const covered = [...made]
      await real()
      covered.forEach((name) => synced.add(name))
    })
    const names = Array.from({ length: 200 }, (_, i) => `file-${i}`)
    const put = async (name: string) => {
      await changeDurably(directory, async () => {
        await make(name)
        made.add(name)
      })
      expect(synced.has(name), name).to.equal(true)
    }
    await Promise.all(names.map(put))
  })

  it('fails for all changes that share a sync that fails, and syncs anew for later ones', async () => {
    await using place = await makePlace()
    const { directory, make } = place
    const first = Promise.withResolvers<undefined>()
    const others = Promise.withResolvers<undefined>()
    let syncs = 0
    using _ = replaceSync('fsync', (_directory, real) => {
      if (++syncs === 1) {
        first.resolve(undefined)
        return others.promise
      }
      if (syncs === 2) throw systemError('EIO', 'fsync')
      return real()
    })
    const before = changeDurably(directory, () => make('a'))
    await first.promise
    const shared = ['b', 'c'].map((name) =>
      changeDurably(directory, async () => {
        await make(name)
        others.resolve(undefined)
      }),
    )
    await before
    for (const { status, ...rest } of await Promise.allSettled(shared)) {
      expect(status).to.equal('rejected')
      expect(rest).to.have.nested.property('reason.code', 'EIO')
    }
    await changeDurably(directory, () => make('d'))
    expect(syncs).to.equal(3)
  })

  it('fails for changes that were made when a sync before theirs failed, which has dropped them', async () => {
    await using place = await makePlace()
    const { directory, make } = place
    const first = Promise.withResolvers<undefined>()
    const second = Promise.withResolvers<undefined>()
    let syncs = 0
    using _ = replaceSync('fsync', async () => {
      if (++syncs > 1) return
      first.resolve(undefined)
      await second.promise
      throw systemError('EIO', 'fsync')
    })
    const changes = [changeDurably(directory, () => make('a'))]
    await first.promise
    const late = changeDurably(directory, async () => {
      await make('b')
      second.resolve(undefined)
    })
    for (const change of await Promise.allSettled([...changes, late])) {
      expect(change).to.have.nested.property('reason.code', 'EIO')
    }
    await changeDurably(directory, () => make('c'))
    expect(await openFilesIn(place.path)).to.deep.equal([])
  })

  for (const kind of ['fsync', 'fdatasync'] as const) {
    it(`fails for changes to one directory while the ${kind} of something else fails`, async () => {
      await using place = await makePlace()
      const { directory, make } = place
      const isMade = Promise.withResolvers<undefined>()
      const mayEnd = Promise.withResolvers<undefined>()
      const change = changeDurably(directory, async () => {
        await make('a')
        isMade.resolve(undefined)
        await mayEnd.promise
      })
      await isMade.promise
      {
        using _ = replaceSync(kind, () => {
          throw systemError('EIO', kind)
        })
        const sync = kind === 'fsync' ? pooledCalls.sync(0) : pooledCalls.datasync(0)
        expect(await sync.catch((error: unknown) => error)).to.have.property('code', 'EIO')
      }
      mayEnd.resolve(undefined)
      expect(await change.catch((error: unknown) => error)).to.have.property('code', 'EIO')
      await changeDurably(directory, () => make('b'))
    })
  }

  it('takes it for no failure where directories cannot be synced', async () => {
    await using place = await makePlace()
    const { directory, make } = place
    using _ = replaceSync('fsync', () => {
      throw systemError('EINVAL', 'fsync')
    })
    await Promise.all(['a', 'b', 'c'].map((name) => changeDurably(directory, () => make(name))))
  })

  it('gives each change its own failure, and syncs for the others', async () => {
    await using place = await makePlace()
    const { directory, make } = place
    let syncs = 0
    using _ = replaceSync('fsync', (_directory, real) => {
      syncs++
      return real()
    })
    const taken = new Error('taken')
    const [made, refused] = await Promise.allSettled([
      changeDurably(directory, () => make('a')),
      changeDurably(directory, () => Promise.reject(taken)),
    ])
    expect([made.status, refused]).to.deep.equal([
      'fulfilled',
      { status: 'rejected', reason: taken },
    ])
    expect(syncs).to.equal(1)
  })

  it('syncs the directory that is there, where it was removed and made anew meanwhile', async () => {
    await using place = await makePlace()
    const { directory, make } = place
    const synced: bigint[] = []
    using _ = replaceSync('fsync', (directory, real) => {
      synced.push(fstatSync(directory, { bigint: true }).ino)
      return real()
    })
    const isHeld = Promise.withResolvers<undefined>()
    const held = Promise.withResolvers<undefined>()
    const unlucky = changeDurably(directory, async () => {
      isHeld.resolve(undefined)
      await held.promise
      await make('a')
    })
    await isHeld.promise
    const isOpen = Promise.withResolvers<undefined>()
    const anew = Promise.withResolvers<undefined>()
    const late = changeDurably(directory, async () => {
      isOpen.resolve(undefined)
      await anew.promise
      await make('b')
    })
    await isOpen.promise
    await rename(directory, join(place.path, 'elsewhere'))
    held.resolve(undefined)
    expect(await unlucky.catch((error: unknown) => error)).to.have.property('code', 'ENOENT')
    await mkdir(directory)
    anew.resolve(undefined)
    await late
    const { ino } = await stat(directory, { bigint: true })
    expect(synced).to.deep.equal([ino])
    expect(await openFilesIn(place.path)).to.deep.equal([])
  })
})
