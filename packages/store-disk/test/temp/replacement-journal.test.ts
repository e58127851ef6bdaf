import { mkdir, readdir, rm, symlink, utimes } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { pooledCalls } from '../../src/files/file-calls.ts'
import { DisturbedWalk } from '../../src/temp/notes.ts'
import {
  createReplacementJournal,
  type ReplacementJournal,
} from '../../src/temp/replacement-journal.ts'
import { openTempDirectory, type TempDirectory } from '../../src/temp/temp-directory.ts'
import { interceptFileCalls } from '../file-calls-intercepted.ts'
import { systemError } from '../full-disk.ts'

/** As a store names the directory of a process that has ended, and that of one of its walks. */
const dead = '999999999-1-0--abc@elsewhere'

interface Member {
  readonly tempDirectory: TempDirectory
  readonly journal: ReplacementJournal
}

/** A directory that processes share: `join` makes another of them. */
async function makeShared() {
  const place = await makeTemporaryDirectory()
  const [tmp, files] = [join(place.path, 'tmp'), join(place.path, 'files')]
  const members: Member[] = []
  const log = { warn: () => {} }
  return {
    tmp,
    path: (name: string) => join(files, 'alice', name),
    async join(): Promise<Member> {
      const tempDirectory = await openTempDirectory(tmp, log, async () => {}, pooledCalls)
      const member = {
        tempDirectory,
        journal: createReplacementJournal(files, tempDirectory, pooledCalls),
      }
      members.push(member)
      return member
    },
    /** What is in `tmp` but the directories of its members. */
    async rest() {
      const own = members.map(({ tempDirectory }) => tempDirectory.path)
      const entries = await readdir(tmp, { recursive: true })
      return entries.filter((entry) => !own.includes(join(tmp, entry)))
    },
    async [Symbol.asyncDispose]() {
      for (const { tempDirectory } of members) await tempDirectory.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

const nothing = async () => {}

/** A promise, and the way to resolve it. */
function gate() {
  let open: () => void = () => {}
  const passed = new Promise<void>((resolve) => (open = resolve))
  return { passed, open: () => open() }
}

describe('createReplacementJournal', () => {
  it('reports to a walk what any process replaced meanwhile, each once', async () => {
    await using shared = await makeShared()
    const [one, other] = [await shared.join(), await shared.join()]
    await other.journal.replace(shared.path('before'), nothing)
    const replaced = await one.journal.watch(async (replacedSince) => {
      await one.journal.replace(shared.path('a'), nothing)
      for (let time = 0; time < 3; time++) await other.journal.replace(shared.path('b'), nothing)
      return replacedSince()
    })
    expect([...replaced].sort()).to.deep.equal([shared.path('a'), shared.path('b')])
    await other.journal.replace(shared.path('after'), nothing)
    expect(await shared.rest()).to.deep.equal([])
  })

  it('reports all replacements to each of several walks at once', async () => {
    await using shared = await makeShared()
    const [one, other] = [await shared.join(), await shared.join()]
    const replaced = await one.journal.watch(async (sinceFirst) => {
      await other.journal.replace(shared.path('a'), nothing)
      const second = await one.journal.watch(async (sinceSecond) => {
        await other.journal.replace(shared.path('b'), nothing)
        return sinceSecond()
      })
      return [await sinceFirst(), second]
    })
    expect(replaced.map((paths) => [...paths].sort())).to.deep.equal([
      [shared.path('a'), shared.path('b')],
      [shared.path('b')],
    ])
    expect(await shared.rest()).to.deep.equal([])
  })

  it('reports a replacement that started before the walk and has not ended', async () => {
    await using shared = await makeShared()
    const [one, other] = [await shared.join(), await shared.join()]
    const [begun, end] = [gate(), gate()]
    const replacing = other.journal.replace(shared.path('a'), async () => {
      begun.open()
      await end.passed
    })
    await begun.passed
    const replaced = await one.journal.watch((replacedSince) => replacedSince())
    expect(replaced).to.deep.equal([shared.path('a')])
    end.open()
    await replacing
    expect(await shared.rest()).to.deep.equal([])
  })

  it('leaves nothing of a replacement that fails', async () => {
    await using shared = await makeShared()
    const { journal } = await shared.join()
    const failure = systemError('EIO', 'rename')
    const failing = journal.replace(shared.path('a'), () => Promise.reject(failure))
    expect(await failing.catch((error: unknown) => error)).to.equal(failure)
    expect(await shared.rest()).to.deep.equal([])
  })

  it('reports a replacement by a process that was killed, although the next start removes its note', async () => {
    await using shared = await makeShared()
    const { journal } = await shared.join()
    await mkdir(join(shared.tmp, dead))
    await symlink(`alice${sep}a`, join(shared.tmp, dead, '0.note'))
    const replaced = await journal.watch(async (replacedSince) => {
      await age(join(shared.tmp, dead))
      await shared.join()
      expect(await shared.rest()).not.to.include(dead)
      return replacedSince()
    })
    expect(replaced).to.deep.equal([shared.path('a')])
    expect(await shared.rest()).to.deep.equal([])
  })

  it('clears away the walks of processes that are gone, and spares those of others', async () => {
    await using shared = await makeShared()
    const { journal } = await shared.join()
    const marker = join(shared.tmp, 'walks', `${dead}.0`)
    await mkdir(marker, { recursive: true })
    await journal.replace(shared.path('a'), nothing)
    expect(await readdir(marker)).to.have.length(1)
    const replaced = await journal.watch(async (replacedSince) => {
      await journal.replace(shared.path('b'), nothing)
      await shared.join()
      expect(await readdir(join(shared.tmp, 'walks'))).to.have.length(1)
      return replacedSince()
    })
    expect(replaced).to.deep.equal([shared.path('b')])
    expect(await shared.rest()).to.deep.equal([])
  })

  it('says that a walk must begin again when its marker was removed', async () => {
    await using shared = await makeShared()
    const { journal } = await shared.join()
    const watching = journal.watch(async (replacedSince) => {
      await rm(join(shared.tmp, 'walks'), { recursive: true })
      return replacedSince()
    })
    expect(await watching.catch((error: unknown) => error)).to.be.an.instanceOf(DisturbedWalk)
  })

  it('keeps a note that cannot be handed over where walks find it, and hands it over later', async () => {
    await using shared = await makeShared()
    const [one, other] = [await shared.join(), await shared.join()]
    const replaced = await one.journal.watch(async (replacedSince) => {
      {
        using _full = await interceptFileCalls({
          before({ name, args: [, path] }) {
            if (name === 'symlink' && String(path).includes(`${sep}walks${sep}`)) {
              throw systemError('ENOSPC', 'symlink')
            }
          },
        })
        await other.journal.replace(shared.path('a'), nothing)
      }
      expect(await readdir(other.tempDirectory.path)).to.have.length(1)
      const first = await replacedSince()
      await other.journal.replace(shared.path('b'), nothing)
      expect(await readdir(other.tempDirectory.path)).to.deep.equal([])
      return [first, await replacedSince()]
    })
    expect(replaced.map((paths) => [...paths].sort())).to.deep.equal([
      [shared.path('a')],
      [shared.path('a'), shared.path('b')],
    ])
    expect(await shared.rest()).to.deep.equal([])
  })

  it('waits for replacements under way when it settles', async () => {
    await using shared = await makeShared()
    const { journal } = await shared.join()
    const end = gate()
    const replacing = journal.replace(shared.path('a'), () => end.passed)
    let isSettled = false
    const settling = journal.settle().then(() => (isSettled = true))
    await readdir(shared.tmp)
    expect(isSettled).to.equal(false)
    end.open()
    await Promise.all([replacing, settling])
  })
})

/** An owner elsewhere is dead after fifteen minutes without a heartbeat. */
async function age(directory: string): Promise<void> {
  const hourAgo = new Date(Date.now() - 3_600_000)
  await utimes(directory, hourAgo, hourAgo)
}
