import { expect } from 'chai'
import type { CustomerAccess, ViewedFile } from '../../page/api/connection.ts'
import { archiveNames } from '../../page/list/archive-names.ts'
import { notices } from '../../page/parts/notices.ts'
import { fakeConnection, settled } from './fake-connection.ts'

type Download = (access: CustomerAccess, files: readonly ViewedFile[]) => Promise<void>

/** Not by its name, since its types are those of a browser, which the tests in Node have not. */
const subject = new URL('../../page/list/download.ts', import.meta.url).href

describe('archiveNames', () => {
  const cases: readonly (readonly [name: string, entry: string])[] = [
    ['..\\..\\evil.txt', '.._.._evil.txt'],
    ['../../evil.txt', '.._.._evil.txt'],
    ['\\\\host\\share', '__host_share'],
    ['C:\\Windows\\x.exe', 'C__Windows_x.exe'],
    ['c:x', 'c_x'],
    ['a\u0000.txt', 'a_.txt'],
    ['..', '_..'],
    ['', '_'],
    ['...', '...'],
    ['12:30 notes.txt', '12:30 notes.txt'],
    ['Überblick – 日本.txt', 'Überblick – 日本.txt'],
  ]
  for (const [name, entry] of cases) {
    it(`makes ${JSON.stringify(entry)} of ${JSON.stringify(name)}`, () => {
      expect(archiveNames([name])).to.deep.equal([entry])
    })
  }

  it('keeps all of them apart', () => {
    const names = ['a\\b.txt', 'a/b.txt', 'a_b (2).txt', 'a\u0001b.txt', 'a_b.txt', 'c\\d']
    expect(archiveNames(names)).to.deep.equal([
      'a_b (3).txt',
      'a_b (4).txt',
      'a_b (2).txt',
      'a_b (5).txt',
      'a_b.txt',
      'c_d',
    ])
  })

  it('has folders below the one that is packed, and none leads out of it', () => {
    const names = ['a - b - c.txt', 'a - d.txt', 'a - .. - e.txt', 'a - C: - x\\y', 'a - b']
    expect(archiveNames(names, '')).to.deep.equal([
      'a/b/c.txt',
      'a/d.txt',
      'a/_../e.txt',
      'a/C_/x_y',
      'a/b (2)',
    ])
    expect(archiveNames(names.slice(0, 2), 'a - ')).to.deep.equal(['b/c.txt', 'd.txt'])
    expect(archiveNames(['a - b.txt', 'a - b.txt '], '')).to.deep.equal(['a/b.txt', 'a/b.txt '])
  })
})

describe('After signing out', () => {
  /** The names of the files that the browser has saved. */
  let saved: string[]
  beforeEach(() => {
    saved = []
    const anchor = { download: '', click: () => saved.push(anchor.download) }
    // A page has them, and Node has not.
    Object.assign(globalThis, { document: { createElement: () => anchor }, window: {} })
  })
  afterEach(() => Object.assign(globalThis, { document: undefined, window: undefined }))

  const files = ['a', 'b', 'c'].map((name) => ({
    ...{ name, size: 1, modified: '2026-01-01T00:00:00.000Z', type: 'text/plain', etag: '"1"' },
  }))

  async function begin(download: 'download' | 'downloadZip', hasLinks: boolean) {
    const subjects = (await import(subject)) as Readonly<Record<typeof download, Download>>
    const { connection, asked, lines } = fakeConnection()
    const ending = new AbortController()
    const access = { connection, hasLinks, ended: ending.signal }
    const running = subjects[download](access, files)
    await settled()
    const signOut = () => {
      ending.abort()
      notices.value = []
    }
    return { asked, lines, running, signOut }
  }

  it('no further link is made, and no file saved', async () => {
    const { asked, lines, running, signOut } = await begin('download', true)
    signOut()
    await asked[0]?.answer(Response.json({ url: 'http://files.example/a', expires: '' }))
    await running
    expect(lines()).to.deep.equal(['POST link/a'])
    expect(saved).to.deep.equal([])
    expect(notices.value).to.deep.equal([])
  })

  it('no notice names a file whose download fails', async () => {
    const { asked, lines, running, signOut } = await begin('download', true)
    signOut()
    await asked[0]?.fail(503, 'Overloaded')
    await running
    expect(lines()).to.deep.equal(['POST link/a'])
    expect(notices.value).to.deep.equal([])
  })

  for (const download of ['download', 'downloadZip'] as const) {
    it(`${download} ends the request for the content`, async () => {
      const { asked, running, signOut } = await begin(download, false)
      expect(asked).to.have.length(1)
      signOut()
      expect(asked[0]?.init.signal?.aborted).to.equal(true)
      await asked[0]?.breakOff()
      await running
      expect(asked).to.have.length(1)
      expect(saved).to.deep.equal([])
      expect(notices.value).to.deep.equal([])
    })
  }
})
