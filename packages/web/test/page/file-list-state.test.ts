import { until } from '@holdfast/testing'
import { expect } from 'chai'
import type { FileDetails } from '@holdfast/client/browser'
import { createFileList } from '../../page/list/file-list-state.ts'
import { fakeConnection } from './fake-connection.ts'

const file = (name: string, etag = '"1"'): FileDetails => ({
  name,
  size: 1,
  modified: '2026-01-01T00:00:00.000Z',
  type: 'text/plain',
  etag,
})

/** A list that loads in two pages. */
function harness(most?: number) {
  const { connection, asked } = fakeConnection()
  const files = createFileList(connection, most)
  const names = () => files.all.value.map(({ name }) => name)
  const ask = (part: string) => asked.filter(({ path }) => path.startsWith(part)).at(-1)!
  const page = (entries: readonly FileDetails[], next?: string) =>
    ask('list').answer(
      Response.json(
        entries,
        next === undefined ? {} : { headers: { Link: `<${next}>; rel="next"` } },
      ),
    )
  return { files, names, page, ask, asked }
}

describe('createFileList', () => {
  it('keeps what is stored or deleted while it loads', async () => {
    const { files, names, page } = harness()
    const loading = files.load()
    await page([file('a'), file('c')], '/list?details=1&after=c')
    files.add(file('b'))
    files.remove('c')
    await page([file('d')])
    await loading
    expect(names()).to.deep.equal(['a', 'b', 'd'])
    await until('the changes are shown', () => names().length === 3)
    expect(names()).to.deep.equal(['a', 'b', 'd'])
  })

  it('takes over what has changed in a part of the list, and not what has changed here meanwhile', async () => {
    const { files, names, page } = harness()
    const loading = files.load()
    await page(['a', 'b', 'c', 'd', 'e', '\u{1f600}'].map((name) => file(name)))
    await loading
    const refreshing = files.refresh('a', 3)
    files.add(file('c2'))
    files.remove('d')
    await page([file('b', '"2"'), file('b2'), file('d')], '/list?details=1&after=d')
    expect(await refreshing).to.deep.equal({ added: ['b2'], hasChanged: true, last: 'd' })
    await until('the changes are shown', () => names().includes('c2') && !names().includes('d'))
    expect(names()).to.have.members(['a', 'b', 'b2', 'c2', 'e', '\u{1f600}'])
    const rest = files.refresh('b2', 1000)
    await page([file('c2'), file('\uffee'), file('\u{1f600}')])
    expect(await rest).to.deep.equal({ added: ['\uffee'], hasChanged: true, last: undefined })
    expect(names()).to.have.members(['a', 'b', 'b2', 'c2', '\uffee', '\u{1f600}'])
  })

  it('does not show a file again whose deletion waits, whatever the server lists', async () => {
    const { files, names, page } = harness()
    const loading = files.load()
    await page([file('a', ''), file('b'), file('c')])
    await loading
    files.hide(['a', 'c'])
    const refreshing = files.refresh('', 1000)
    await page([file('a'), file('b')])
    expect(await refreshing).to.include({ hasChanged: false })
    expect(names()).to.deep.equal(['b'])
    files.show(['a', 'c'])
    expect(names()).to.deep.equal(['a', 'b', 'c'])
  })

  it('shows a file that another program has stored under a name that was deleted here', async () => {
    const { files, names, page } = harness()
    const first = files.load()
    await page([file('a'), file('b')])
    await first
    files.hide(['a'])
    files.remove('a')
    await until('it is gone', () => names().join() === 'b')
    const second = files.load()
    await page([file('a', '"2"'), file('b')])
    await second
    expect(names()).to.deep.equal(['a', 'b'])
  })

  it('has the last of several changes of a name', async () => {
    const { files, names } = harness()
    files.add(file('a'))
    files.remove('a')
    files.remove('b')
    files.add(file('b'))
    await until('they are shown', () => names().length > 0)
    expect(names()).to.deep.equal(['b'])
  })

  it('keeps a renamed file selected, and none that gets its earlier name', async () => {
    const { files, names } = harness()
    files.add(file('a'))
    files.add(file('b'))
    files.selected.value = new Set(['a'])
    files.rename('a', file('c'))
    expect([...files.selected.value]).to.deep.equal(['c'])
    expect(files.renamed.value).to.deep.equal({ from: 'a', to: 'c' })
    files.add(file('a'))
    expect(files.renamed.value).to.equal(undefined)
    await until('they are shown', () => names().length > 0)
    expect(names()).to.deep.equal(['a', 'b', 'c'])
    expect([...files.selected.value]).to.deep.equal(['c'])
  })

  it('keeps its files where loading them anew fails, and says so', async () => {
    const { files, names, page, ask } = harness()
    const first = files.load()
    await page([file('a')])
    await first
    const second = files.load()
    await ask('list').fail(503, 'Overloaded')
    await second
    expect(files.status.value).to.have.nested.property('error.status', 503)
    expect(names()).to.deep.equal(['a'])
  })

  it('shows the error of a load that failed until a retry succeeds', async () => {
    const { files, names, page, ask } = harness()
    const first = files.load()
    await ask('list').breakOff()
    await first
    const second = files.retry()
    expect(files.status.value).to.have.nested.property('error.code', 'no-answer')
    await page([file('a')])
    await second
    expect(files.status.value).to.equal('complete')
    expect(names()).to.deep.equal(['a'])
  })

  it('takes nothing of a load that another one has followed', async () => {
    const { files, names, page, asked } = harness()
    const first = files.load()
    const slow = asked.find(({ path }) => path.startsWith('list'))!
    const second = files.load()
    await page([file('new')])
    await second
    expect(slow.init.signal?.aborted).to.equal(true)
    await slow.answer(Response.json([file('old')]))
    await first
    expect(names()).to.deep.equal(['new'])
  })
})

describe('The folders of the list', () => {
  it('show what is below the open one, and are kept apart from files by a filter', async () => {
    const { files, page } = harness()
    const loading = files.load()
    await page(['a - b.txt', 'a - c - d.txt', 'e.txt'].map((name) => file(name)))
    await loading
    const shown = () => files.visible.value.map(({ name, folder }) => folder?.title ?? name)
    expect(shown()).to.deep.equal(['a', 'e.txt'])
    files.openFolder('a - ')
    expect(shown()).to.deep.equal(['c', 'a - b.txt'])
    files.filter.value = 'd'
    expect(shown()).to.deep.equal(['a - c - d.txt'])
    files.filter.value = ''
    files.openFolder('')
    files.areFolders.value = false
    expect(shown()).to.deep.equal(['a - b.txt', 'a - c - d.txt', 'e.txt'])
  })

  it('are loaded by their prefix where the list is not complete, and lose nothing to it', async () => {
    const { files, names, asked } = harness()
    const loading = files.load()
    files.openFolder('z - ')
    const folder = asked.find(({ path }) => path.includes('prefix='))!
    expect(new URL(folder.path, 'http://a').searchParams.get('prefix')).to.equal('z - ')
    await folder.answer(Response.json([file('z - 1'), file('z - 2')]))
    expect(names()).to.deep.equal(['z - 1', 'z - 2'])
    files.remove('z - 1')
    await asked
      .find(({ path }) => !path.includes('prefix=') && path.startsWith('list'))!
      .answer(Response.json([file('a'), file('z - 2')]))
    await loading
    await until('all is shown', () => names().join() === 'a,z - 2')
  })

  it('say that names are missing where there are too many, until the rest is loaded', async () => {
    const { files, names, page, ask } = harness(2)
    const loading = files.load()
    await page([file('a'), file('b')], '/list?details=1&after=b')
    await loading
    expect([files.status.value, files.isCut.value]).to.deep.equal(['cut', true])
    files.openFolder('z - ')
    await ask('list').answer(Response.json([file('z - 1')]))
    await until('the folder is whole', () => !files.isCut.value)
    files.openFolder('')
    expect(files.isCut.value).to.equal(true)
    const rest = files.loadRest()
    expect(ask('list').path).to.include('after=b')
    await page([file('c'), file('z - 1')])
    await rest
    expect(names()).to.deep.equal(['a', 'b', 'c', 'z - 1'])
    expect([files.status.value, files.isCut.value]).to.deep.equal(['complete', false])
  })
})
