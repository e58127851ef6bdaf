import { createMemoryBlobStore } from '@holdfast/core/memory'
import { rejection, startBadLine } from '@holdfast/testing'
import { expect } from 'chai'
import { all } from './support/all.ts'
import { clientOf, startService } from './support/running-service.ts'

const keepReplacedMs = 60_000

describe('client.versions', () => {
  it('yields the earlier versions, newest first, page by page', async () => {
    await using service = await startService({ keepReplacedMs })
    const client = clientOf(service)
    for (let size = 1; size <= 5; size++) await client.upload('a b', 'x'.repeat(size))
    const versions = await all(client.versions('a b', { pageSizes: [1, 2] }))
    expect(versions.map(({ size }) => size)).to.deep.equal([4, 3, 2, 1])
    expect(service.requests.filter((each) => each === 'GET /versions/a%20b')).to.have.length(3)
    const [, second] = versions
    const rest = await all(client.versions('a b', { before: second?.version }))
    expect(rest.map(({ size }) => size)).to.deep.equal([2, 1])
  })

  it('yields nothing for a file without any, and rejects where there is no file', async () => {
    await using service = await startService({ keepReplacedMs })
    const client = clientOf(service)
    await client.upload('a', 'x')
    expect(await all(client.versions('a'))).to.deep.equal([])
    expect(await rejection(all(client.versions('b')))).to.include({
      code: 'unknown-file',
      status: 404,
    })
  })

  it('rejects with unknown-path where the server keeps none', async () => {
    const store = createMemoryBlobStore()
    Reflect.deleteProperty(store, 'history')
    await using service = await startService({ store })
    const client = clientOf(service)
    for (const request of [all(client.versions('a')), all(client.deleted()), client.restore('a')]) {
      expect(await rejection(request)).to.include({ code: 'unknown-path' })
    }
  })
})

describe('client.deleted', () => {
  it('yields the deleted files, as list does, with their last versions', async () => {
    await using service = await startService({ keepReplacedMs })
    const client = clientOf(service)
    expect(await all(client.deleted())).to.deep.equal([])
    for (const name of ['b', 'a', 'ab', 'c']) {
      await client.upload(name, 'old')
      await client.upload(name, name)
      if (name !== 'c') await client.delete(name)
    }
    const sizes = async (options = {}) =>
      (await all(client.deleted(options))).map(({ name, size }) => `${name} ${size}`)
    expect(await sizes({ pageSizes: [2] })).to.deep.equal(['a 1', 'ab 2', 'b 1'])
    expect(await sizes({ prefix: 'a', after: 'a' })).to.deep.equal(['ab 2'])
  })
})

describe('client.download with a version', () => {
  it('reads it, also a part of it, and after a broken connection', async () => {
    await using service = await startService({ keepReplacedMs })
    const content = 'x'.repeat(1_000_000)
    await clientOf(service).upload('a', content)
    await clientOf(service).upload('a', 'new')
    const [old] = await all(clientOf(service).versions('a'))
    await using line = await startBadLine(service.port, [{ cutAnswerAfter: 500_000 }])
    const client = clientOf(line)
    const { version } = old ?? {}
    expect(await (await client.download('a', { version })).text()).to.equal(content)
    const part = await client.download('a', { version, start: 999_990 })
    expect([part.size, await part.text()]).to.deep.equal([1_000_000, 'x'.repeat(10)])
    expect(await (await client.download('a')).text()).to.equal('new')
    const missing = client.download('a', { version: 'none' })
    expect(await rejection(missing)).to.include({ code: 'version-not-found' })
  })
})

describe('client.restore', () => {
  it('restores the last version, another one, and under another name', async () => {
    await using service = await startService({ keepReplacedMs })
    const client = clientOf(service)
    const text = async (name: string) => (await client.download(name)).text()
    for (const content of ['one', 'two', 'three']) await client.upload('a', content)
    const [, first] = await all(client.versions('a'))
    await client.restore('a')
    expect(await text('a')).to.equal('two')
    await client.restore('a', { version: first?.version, as: 'b' })
    expect(await text('b')).to.equal('one')
    const taken = client.restore('a', { as: 'b', createOnly: true })
    expect(await rejection(taken)).to.include({ code: 'already-exists' })
    expect(await rejection(client.restore('c'))).to.include({ code: 'version-not-found' })
    expect((await client.usage()).kept).to.deep.equal({ versions: 3, bytes: 11 })
  })

  it('repeats a request without an answer only for a version, and where it may replace', async () => {
    await using service = await startService({ keepReplacedMs })
    const own = clientOf(service)
    for (const content of ['one', 'two']) await own.upload('a', content)
    const [old] = await all(own.versions('a'))
    const { version } = old ?? {}
    for (const options of [{}, { version, createOnly: true, as: 'b' }]) {
      await using line = await startBadLine(service.port, ['unanswered'])
      const error = await rejection(clientOf(line).restore('a', options))
      expect(error).to.include({ code: 'no-answer' })
    }
    await own.upload('a', 'three')
    await using line = await startBadLine(service.port, ['unanswered'])
    await clientOf(line).restore('a', { version })
    expect(await (await own.download('a')).text()).to.equal('one')
  })
})
