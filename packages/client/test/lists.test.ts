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

  it('has a whole page at the end', async () => {
    await using service = await startService()
    const client = clientOf(service)
    for (let n = 0; n < 1000; n++) await service.files.upload(`${n}`, '')
    expect(await all(client.list())).to.have.length(1000)
  })
})
