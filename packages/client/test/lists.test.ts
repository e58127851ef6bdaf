import { rejection } from '@holdfast/testing'
import { expect } from 'chai'
import { all } from './support/all.ts'
import { clientOf, startService } from './support/running-service.ts'

describe('list', () => {
  it('reads pages as they are needed', async () => {
    await using service = await startService()
    const client = clientOf(service)
    const names = Array.from({ length: 2500 }, (_, n) => `file ${String(n).padStart(5, '0')}`)
    for (const name of names) await service.files.upload(name, '')
    expect(await all(client.list())).to.deep.equal(names)
    expect(service.requests).to.have.length(3)
    for await (const name of client.list()) if (name === names[5]) break
    expect(service.requests).to.have.length(4)
    const some = client.list({ prefix: 'file 0012', after: 'file 00125' })
    expect(await all(some)).to.deep.equal(names.slice(126, 130))
    const details = await all(client.listDetails({ prefix: 'file 00000' }))
    expect(details.map(({ name, size }) => [name, size])).to.deep.equal([[names[0], 0]])
  })

  it('gives pages of as many files as it is asked for', async () => {
    await using service = await startService()
    const client = clientOf(service)
    const names = Array.from({ length: 1500 }, (_, n) => String(n).padStart(4, '0'))
    for (const name of names) await service.files.upload(name, '')
    const pages = await all(client.listPages({ after: '0009', pageSizes: [10, 1200] }))
    expect(pages.map((page) => page.length)).to.deep.equal([10, 1200, 280])
    expect(pages.flat().map(({ name }) => name)).to.deep.equal(names.slice(10))
    expect(service.requests).to.have.length(3)
    expect(await all(client.listPages({ prefix: 'x' }))).to.deep.equal([])
    for (const pageSizes of [[], [0], [1.5]]) {
      expect(await rejection(client.listPages({ pageSizes }).next())).to.be.instanceOf(RangeError)
    }
  })

  it('has a whole page at the end', async () => {
    await using service = await startService()
    const client = clientOf(service)
    for (let n = 0; n < 1000; n++) await service.files.upload(`${n}`, '')
    expect(await all(client.list())).to.have.length(1000)
  })
})
