import { expect } from 'chai'
import { createRestores } from '../../page/history/restores.ts'
import { notices } from '../../page/parts/notices.ts'
import { names, shown } from './deletions-harness.ts'
import { fakeConnection, settled } from './fake-connection.ts'

describe('createRestores', () => {
  beforeEach(() => (notices.value = []))
  after(() => (notices.value = []))

  it('restores a version, and shows its file in the list', async () => {
    const { restores, asked, lines, calls } = harness()
    restores.restore(deleted(['a']))
    await settled()
    expect(lines()).to.deep.equal(['POST restore/a'])
    expect(shown()).to.deep.equal([])
    await asked[0]!.answer()
    expect(calls).to.deep.equal(['finish a', 'cancel a', 'gone a', 'usage'])
    expect(lines()[1]).to.match(/^GET list\?.*prefix=a$/)
    await asked[1]!.answer(Response.json([details('a')]))
    expect(calls.at(-1)).to.equal('add a')
    expect(shown()).to.deep.equal(['“a” is restored.'])
  })

  it('restores ten thousand by four requests at a time, and loads the list once', async () => {
    const { restores, asked, calls } = harness()
    restores.restore(deleted(names(10_000)))
    await settled()
    for (let answered = 0; answered < 10_000; answered++) {
      expect(asked.length).to.be.at.most(answered + 4)
      if (answered === 5000) {
        expect(shown()).to.deep.equal(['Restored 5,000 of 10,000 files …'])
      }
      await asked[answered]!.answer()
    }
    await settled()
    expect(calls.filter((call) => call === 'load')).to.have.length(1)
    expect(shown()).to.deep.equal(['10,000 files are restored.'])
  })

  it('asks about names that are taken, until that is decided for all', async () => {
    const { restores, asked, lines } = harness()
    restores.restore(deleted(names(6)))
    await settled()
    for (const request of asked.slice(0, 4)) await request.fail(412, 'Precondition Failed')
    expect(lines()).to.have.length(4)
    expect(restores.conflicts.value.map(({ name }) => name)).to.deep.equal(names(4))
    restores.conflicts.value[0]!.decide('skip', false)
    await settled()
    expect(lines()).to.have.length(5)
    restores.conflicts.value[0]!.decide('keep-both', true)
    expect(restores.conflicts.value).to.deep.equal([])
    await settled()
    await asked[4]!.fail(412, 'Precondition Failed')
    expect(restores.conflicts.value).to.deep.equal([])
    // The name of the copy is taken, too.
    await asked[5]!.fail(412, 'Precondition Failed')
    for (let next = 6; next < asked.length; next++) await asked[next]!.answer()
    expect(shown()).to.deep.equal(['5 files are restored.'])
  })

  it('stops at an error that concerns all files, and lists all that are not restored', async () => {
    const { restores, asked, lines } = harness()
    restores.restore(deleted(names(20)))
    await settled()
    await asked[0]!.fail(503, 'Storage unavailable')
    for (const request of asked.slice(1, 4)) await request.answer()
    expect(lines().filter((line) => line.startsWith('POST'))).to.have.length(4)
    expect(restores.failed.value).to.have.length(17)
    expect(shown()).to.deep.equal(['3 files are restored.'])
    restores.dismissFailed()
    expect(restores.failed.value).to.deep.equal([])
  })

  it('says why a single file could not be restored, and forgets what is not kept', async () => {
    const { restores, asked, calls } = harness()
    restores.restore(deleted(['a']))
    await settled()
    await asked[0]!.fail(404, 'Version not found')
    expect(shown()).to.deep.equal(['“a” could not be restored. It is not kept any more.'])
    expect(calls).to.include('gone a')
  })

  it('sends nothing more once it is stopped', async () => {
    const { restores, asked, lines } = harness()
    restores.restore(deleted(names(20)))
    await settled()
    await asked[0]!.fail(412, 'Precondition Failed')
    notices.value[0]!.action!.run()
    for (const request of asked.slice(1)) await request.answer()
    await settled()
    expect(lines().filter((line) => line.startsWith('POST'))).to.have.length(4)
    expect(restores.conflicts.value).to.deep.equal([])
    expect(restores.failed.value).to.deep.equal([])
  })

  it('warns whoever leaves before the end', async () => {
    const { restores, asked, page } = harness()
    const isWarned = () => !page.dispatchEvent(new Event('beforeunload', { cancelable: true }))
    expect(isWarned()).to.equal(false)
    restores.restore(deleted(['a']))
    expect(isWarned()).to.equal(true)
    await settled()
    await asked[0]!.fail(413, 'Quota exceeded')
    expect(isWarned()).to.equal(false)
  })

  it('reports nothing after its customer has signed out', async () => {
    const { restores, asked } = harness()
    restores.restore(deleted(names(3)))
    await settled()
    await asked[0]!.fail(412, 'Precondition Failed')
    restores.end()
    await asked[1]!.fail(503, 'Storage unavailable')
    await asked[2]!.answer()
    await settled()
    expect(shown()).to.deep.equal([])
    expect(restores.conflicts.value).to.deep.equal([])
    expect(restores.failed.value).to.deep.equal([])
  })
})

function harness() {
  const { connection, asked, lines } = fakeConnection()
  const calls: string[] = []
  const page = new EventTarget()
  const restores = createRestores(connection, {
    page,
    after: () => () => {},
    files: {
      add: ({ name }) => void calls.push(`add ${name}`),
      load: async () => void calls.push('load'),
      refreshUsage: () => void calls.push('usage'),
    },
    deleted: { remove: (name) => void calls.push(`gone ${name}`) },
    deletions: {
      finishDeletion: async (name) => void calls.push(`finish ${name}`),
      cancelDeletion: (name) => void calls.push(`cancel ${name}`),
    },
  })
  return { restores, asked, lines, calls, page }
}

const details = (name: string) => ({
  name,
  size: 1,
  modified: '2026-11-23T04:05:06.789Z',
  type: 'text/plain',
  etag: '"1"',
})

const deleted = (all: readonly string[]) =>
  all.map((name) => ({ ...details(name), version: 'v1', etag: 'v1' }))
