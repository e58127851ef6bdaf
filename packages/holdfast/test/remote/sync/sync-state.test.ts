import { appendFile, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory, type TemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import {
  openSyncState,
  stateDirectory,
  type SyncState,
} from '../../../src/remote/sync/sync-state.ts'

const record = (name: string) => ({ name, size: 1, version: 'v', sha256: 's', etag: '"e"' })

const namesIn = async ({ records }: SyncState) => {
  const names: (readonly string[])[] = []
  for (const list of records) {
    const own: string[] = []
    for await (const { name } of list) own.push(name)
    names.push(own)
  }
  return names
}

describe('openSyncState', () => {
  let place: TemporaryDirectory
  beforeEach(async () => {
    place = await makeTemporaryDirectory()
  })
  afterEach(() => place[Symbol.asyncDispose]())

  const after = async (how: 'replace' | 'add' | 'forget', ...names: readonly string[]) => {
    const state = await openSyncState(place.path)
    for (const name of names) await state.add(record(name))
    await state.close(how)
    return namesIn(await openSyncState(place.path).then(closed))
  }
  const closed = async (state: SyncState) => {
    await state.close('forget')
    return state
  }

  it('remembers what a whole run has recorded, and no more', async () => {
    expect(await after('replace', 'a', 'b\u2028\n', '😀')).to.deep.equal([['a', 'b\u2028\n', '😀']])
    expect(await after('replace', 'b')).to.deep.equal([['b']])
    expect(await after('forget', 'c')).to.deep.equal([['b']])
  })

  it('remembers what several runs have recorded that ended early', async () => {
    await after('replace', 'a')
    await after('add', 'b')
    expect((await after('add', 'c')).flat().toSorted()).to.deep.equal(['a', 'b', 'c'])
    expect(await after('replace', 'd')).to.deep.equal([['d']])
    expect((await readdir(place.path)).toSorted()).to.deep.equal(['state.jsonl', 'uploads'])
  })

  it('remembers what a whole run has recorded, however many were refused since', async () => {
    await after('replace', 'a')
    for (let run = 0; run < 10; run++) expect(await after('add')).to.deep.equal([['a']])
    expect((await readdir(place.path)).toSorted()).to.deep.equal(['state.jsonl', 'uploads'])
  })

  it('keeps no more lists than it reads, and its own', async () => {
    await after('replace', 'a')
    for (let run = 0; run < 20; run++) await after('add', 'b')
    expect((await after('add', 'c')).flat()).to.include.members(['a', 'b', 'c'])
    const lists = (await readdir(place.path)).filter((name) => name.endsWith('.jsonl'))
    expect(lists).to.have.length.within(8, 9)
  })

  it('may be closed after a quicker run has cleaned up', async () => {
    const slow = await openSyncState(place.path)
    await slow.add(record('slow'))
    expect(await after('replace', 'quick')).to.deep.equal([['quick']])
    await slow.close('replace')
    expect(await namesIn(await closed(await openSyncState(place.path)))).to.deep.equal([['quick']])
  })

  it('takes of a damaged list what is whole', async () => {
    await after('replace', 'a', 'b')
    const path = join(place.path, 'state.jsonl')
    await appendFile(path, '{"name":"c","si')
    const read = async () => namesIn(await closed(await openSyncState(place.path)))
    expect(await read()).to.deep.equal([['a', 'b']])
    await writeFile(path, `${JSON.stringify(record('b'))}\n${JSON.stringify(record('a'))}\n`)
    expect(await read()).to.deep.equal([['b']])
    for (const text of ['', 'null\n', '[]\n', '\n', '{"name":"a"}\n']) {
      await writeFile(path, text)
      expect(await read()).to.deep.equal([[]])
    }
  })

  it('keeps the URLs of uploads, for this user only', async () => {
    const { uploads } = await closed(await openSyncState(place.path))
    expect(await uploads.get('a', '1')).to.equal(undefined)
    await uploads.set('a', '1', 'http://one')
    expect(await uploads.get('a', '1')).to.equal('http://one')
    expect(await uploads.get('a', '2')).to.equal(undefined)
    const [name = ''] = await readdir(join(place.path, 'uploads'))
    expect(await readFile(join(place.path, 'uploads', name), 'utf8')).to.equal('http://one')
    expect((await stat(join(place.path, 'uploads', name))).mode & 0o077).to.equal(0)
    for (const damaged of ['', '\0\0']) {
      await writeFile(join(place.path, 'uploads', name), damaged)
      expect(await uploads.get('a', '1')).to.equal(undefined)
    }
    await uploads.delete('a', '1')
    await uploads.delete('a', '1')
    expect(await uploads.get('a', '1')).to.equal(undefined)
  })

  it('removes the URLs of uploads that a run has not asked for', async () => {
    const { uploads: earlier } = await closed(await openSyncState(place.path))
    for (const name of ['asked', 'set', 'gone']) await earlier.set(name, '1', `http://${name}`)
    const { uploads } = await closed(await openSyncState(place.path))
    await uploads.get('asked', '1')
    await uploads.set('set', '1', 'http://again')
    await uploads.set('new', '1', 'http://new')
    const taken: string[] = []
    for await (const url of uploads.takeUnasked()) taken.push(url)
    expect(taken).to.deep.equal(['http://gone'])
    expect(await readdir(join(place.path, 'uploads'))).to.have.length(3)
  })

  it('is elsewhere for another server, customer or directory', () => {
    const of = (...identity: readonly string[]) =>
      stateDirectory({ XDG_STATE_HOME: '/state' }, identity)
    expect(of('a', 'bc')).to.match(/^\/state\/holdfast\/sync\/[0-9a-f]{32}$/)
    expect(of('a', 'bc')).not.to.equal(of('ab', 'c'))
    expect(stateDirectory({ XDG_STATE_HOME: 'state' }, [])).not.to.match(/^state/)
  })
})
