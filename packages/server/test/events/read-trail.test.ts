import { appendFile, copyFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory, type TemporaryDirectory, until } from '@holdfast/testing'
import { expect } from 'chai'
import {
  openTrailReader,
  positionAtEnd,
  type TrailPosition,
  type TrailReader,
} from '../../src/events/read-trail.ts'

const beginning: TrailPosition = { files: [], since: '' }

describe('openTrailReader', () => {
  let directory: TemporaryDirectory
  let trail: string
  let clock = 0
  let lost: string[]
  const readers: TrailReader[] = []
  beforeEach(async () => {
    directory = await makeTemporaryDirectory()
    trail = join(directory.path, 'audit.jsonl')
    lost = []
  })
  afterEach(async () => {
    for (const reader of readers.splice(0)) await reader.close()
    await directory.remove()
  })

  const line = (name: string) =>
    `{"time":"${new Date(Date.UTC(2026, 0, 1) + clock++).toISOString()}","n":"${name}"}\n`
  const write = (...names: string[]) => appendFile(trail, names.map(line).join(''))
  const at = (name: string) => join(directory.path, name)
  const open = async (position = beginning, options = {}) => {
    const onLost = (since: string) => void lost.push(since)
    const reader = await openTrailReader(trail, position, { onLost, graceMs: 0, ...options })
    readers.push(reader)
    return reader
  }
  const nameIn = (text: string) => (JSON.parse(text) as { readonly n: string }).n
  /** Reads the names of `count` lines. */
  const read = async (reader: TrailReader, count: number) => {
    const names: string[] = []
    await until(`${count} lines are read`, async () => {
      for (let next = await reader.next(); next; next = await reader.next()) {
        if (next.text.startsWith('{')) names.push(nameIn(next.text))
        if (names.length === count) return true
      }
      return false
    })
    return names
  }
  /** Closes the reader; the result opens another one at its position, as a restart does. */
  const close = async (reader: TrailReader) => {
    const position = JSON.parse(JSON.stringify(reader.position())) as TrailPosition
    await reader.close()
    return () => open(position)
  }
  const reopened = async (reader: TrailReader) => (await close(reader))()

  it('reads whole lines in order, and nothing of a line that is not whole', async () => {
    const reader = await open()
    expect(await reader.next()).to.equal(undefined)
    await write('a', 'b')
    await appendFile(trail, '{"time":"')
    expect(await read(reader, 2)).to.deep.equal(['a', 'b'])
    expect(await reader.next()).to.equal(undefined)
    expect(lost).to.deep.equal([])
  })

  it('finds a moved file that begins with the end of a line written in part', async () => {
    await write('a')
    const reader = await open()
    expect(await read(reader, 1)).to.deep.equal(['a'])
    const reopen = await close(reader)
    // Copied and truncated in the middle of a line, which the writer then ends.
    await copyFile(trail, at('audit.jsonl.2'))
    await truncate(trail)
    await appendFile(trail, '\n')
    await write('b')
    await rename(trail, at('audit.jsonl.1'))
    await write('c')
    expect(await read(await reopen(), 2)).to.deep.equal(['b', 'c'])
    expect(lost).to.deep.equal([])
  })

  it('begins at the end, and finds there what comes later', async () => {
    await write('old')
    const position = await positionAtEnd(trail)
    await write('a')
    const reader = await open(position)
    expect(await read(reader, 1)).to.deep.equal(['a'])
    const none = await positionAtEnd(at('none.jsonl'))
    expect(none.files).to.deep.equal([])
  })

  it('goes on where it was, with the same ids for lines that are read again', async () => {
    await write('a', 'b', 'c')
    const reader = await open()
    await read(reader, 1)
    const position = reader.position()
    const ids = [await reader.next(), await reader.next()].map((next) => next?.id)
    const second = await open(position)
    expect([(await second.next())?.id, (await second.next())?.id]).to.deep.equal(ids)
    expect(await (await reopened(second)).next()).to.equal(undefined)
    expect(lost).to.deep.equal([])
  })

  it('reads a file that was moved to its end, and then the new one', async () => {
    await write('a', 'b')
    const reader = await open()
    await read(reader, 1)
    await rename(trail, at('audit.jsonl-1'))
    await write('d')
    await appendFile(at('audit.jsonl-1'), line('c'))
    expect(await read(reader, 3)).to.deep.equal(['b', 'c', 'd'])
    expect(lost).to.deep.equal([])
  })

  it('waits before it reads a new file, and reads a line that comes late', async () => {
    await write('a')
    const reader = await open(beginning, { graceMs: 200 })
    await read(reader, 1)
    await rename(trail, at('audit.jsonl-1'))
    await write('c')
    await reader.watch()
    expect(await reader.next()).to.equal(undefined)
    await appendFile(at('audit.jsonl-1'), line('b'))
    expect(await read(reader, 2)).to.deep.equal(['b', 'c'])
    await appendFile(at('audit.jsonl-1'), line('late'))
    expect(await read(reader, 1)).to.deep.equal(['late'])
  })

  it('stops to look at a file that was moved long ago', async () => {
    await write('a')
    const reader = await open(beginning, { lateMs: 0 })
    await read(reader, 1)
    await rename(trail, at('audit.jsonl-1'))
    await write('b')
    await read(reader, 1)
    await until('the file is closed', async () => {
      await reader.next()
      return reader.position().files.length === 1
    })
  })

  it('reads all files that came while it was closed, in the order of their lines', async () => {
    await write('a', 'b')
    const reader = await open()
    await read(reader, 1)
    const reopen = await close(reader)
    await rename(trail, at('audit.jsonl.3'))
    await write('c')
    await rename(trail, at('audit.jsonl.1'))
    await write('d')
    await rename(trail, at('audit-2026.jsonl'))
    await write('e')
    expect(await read(await reopen(), 4)).to.deep.equal(['b', 'c', 'd', 'e'])
    expect(lost).to.deep.equal([])
  })

  it('reads nothing of the trail of another server in the same directory', async () => {
    await write('a')
    const reader = await open()
    expect(await read(reader, 1)).to.deep.equal(['a'])
    for (const name of ['audit-staging.jsonl', 'audit2.jsonl', 'audits.jsonl', 'audit.json']) {
      await writeFile(at(name), line('theirs'))
    }
    await rename(trail, at('audit.jsonl.1'))
    await write('b')
    expect(await read(reader, 1)).to.deep.equal(['b'])
    expect(await reader.next()).to.equal(undefined)
  })

  it('reads what is removed while it is open', async () => {
    await write('a', 'b')
    const reader = await open()
    await read(reader, 1)
    await rm(trail)
    await write('c')
    await reader.watch()
    await rm(trail)
    await write('d')
    await reader.watch()
    expect(await read(reader, 3)).to.deep.equal(['b', 'c', 'd'])
    expect(lost).to.deep.equal([])
  })

  it('says that lines may be lost where the file is gone that it was in', async () => {
    await write('a', 'b')
    const reader = await open()
    await read(reader, 1)
    const { since } = reader.position()
    const reopen = await close(reader)
    await rm(trail)
    await write('c')
    const second = await reopen()
    expect(lost).to.deep.equal([since])
    expect(await read(second, 1)).to.deep.equal(['c'])
  })

  it('does not miss an earlier file that it had read to its end', async () => {
    await write('a')
    const reader = await open()
    await read(reader, 1)
    await rename(trail, at('audit.jsonl-1'))
    await write('b')
    await read(reader, 1)
    await reader.next()
    expect(reader.position().files).to.have.length(2)
    await rm(at('audit.jsonl-1'))
    await reopened(reader)
    expect(lost).to.deep.equal([])
  })

  it('reads the copy of a file that was truncated, and then the file', async () => {
    await write('a', 'b')
    const reader = await open()
    await read(reader, 1)
    await copyFile(trail, at('audit.jsonl-1'))
    await truncate(trail)
    await write('c')
    expect(await read(reader, 2)).to.deep.equal(['b', 'c'])
    await copyFile(trail, at('audit.jsonl-2'))
    await truncate(trail)
    await write('d with a name that is as long as all lines before it')
    expect(await read(await reopened(reader), 1)).to.deep.equal([
      'd with a name that is as long as all lines before it',
    ])
    expect(lost).to.deep.equal([])
  })

  it('reads all copies of a file that was truncated several times before it was looked at', async () => {
    await write('a', 'b')
    const reader = await open()
    await read(reader, 1)
    for (const name of ['c', 'd', 'e']) {
      await copyFile(trail, at(`audit.jsonl-before-${name}`))
      await truncate(trail)
      await write(name)
    }
    expect(await read(reader, 4)).to.deep.equal(['b', 'c', 'd', 'e'])
    expect(lost).to.deep.equal([])
  })

  for (const [title, names] of [
    ['with its first line', ['a']],
    ['empty', []],
  ] as const) {
    it(`reads the copies of a file that was seen ${title}, and truncated before it was read`, async () => {
      await write(...names)
      const reader = await open()
      await reader.watch()
      for (const name of ['c', 'd']) {
        await write(name)
        await copyFile(trail, at(`audit.jsonl-with-${name}`))
        await truncate(trail)
      }
      await write('e')
      expect(await read(reader, names.length + 3)).to.deep.equal([...names, 'c', 'd', 'e'])
      expect(lost).to.deep.equal([])
    })
  }

  it('says that lines may be lost where a file was truncated and has no copy', async () => {
    await write('a', 'b')
    const reader = await open()
    await read(reader, 2)
    await truncate(trail)
    await write('c')
    expect(await read(reader, 1)).to.deep.equal(['c'])
    expect(lost).to.have.length(1)
  })

  it('takes another file with the same inode for another one', async () => {
    await write('a', 'b')
    const reader = await open()
    await read(reader, 2)
    const position = reader.position()
    await writeFile(trail, `${line('c')}${line('d')}`)
    const second = await open(position)
    expect(lost).to.have.length(1)
    expect(await read(second, 2)).to.deep.equal(['c', 'd'])
  })

  it('reads a file that is longer than a chunk, and skips a line that is', async () => {
    const names = Array.from({ length: 3_000 }, (_, index) => `${index}`)
    await write(...names)
    await appendFile(trail, `${'x'.repeat(200_000)}\n`)
    await write('last')
    const reader = await open()
    expect(await read(reader, 3_001)).to.deep.equal([...names, 'last'])
    expect(await (await reopened(reader)).next()).to.equal(undefined)
    expect(lost).to.deep.equal([])
  })

  it('reads every line once, in order, however fast files are moved away', async () => {
    const names = Array.from({ length: 90 }, (_, index) => `${index}`)
    const reader = await open()
    const rotating = (async () => {
      for (const name of names) {
        await write(name)
        await rename(trail, at(`audit.jsonl.${name}`))
      }
    })()
    expect(await read(reader, names.length)).to.deep.equal(names)
    await rotating
    expect(lost).to.deep.equal([])
  })
})
