import { createMemoryBlobStore } from '@holdfast/core/memory'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { auth, runApp } from '../support/running-app.ts'

describe('links over HTTP, under way', () => {
  it('keep out no one else, however many of one address or of many stand still', async () => {
    const memory = createMemoryBlobStore()
    const released = Promise.withResolvers<undefined>()
    let opened = 0
    const store: typeof memory = {
      ...memory,
      async open(...args) {
        opened++
        await released.promise
        return memory.open(...args)
      },
    }
    await using app = await runApp({
      ...{ store, maxRequests: 32, trustedProxies: ['127.0.0.1'] },
      isExempt: (address) => address === '10.0.0.1',
    })
    await app.files.upload('a', 'content')
    const made = await fetch(`${app.url}/link/a`, { method: 'POST', headers: auth })
    const link = ((await made.json()) as { url: string }).url
    const asked: Promise<Response>[] = []
    const follow = async (address: string) => {
      const before = opened
      const asking = fetch(link, { headers: { 'X-Forwarded-For': address } })
      asked.push(asking)
      const underWay = until('the file is opened', () => opened > before)
      return Promise.race([asking.then(({ status }) => status), underWay.then(() => 'under way')])
    }
    const followAll = async (...addresses: string[]) => {
      const outcomes: unknown[] = []
      for (const address of addresses) outcomes.push(await follow(address))
      return outcomes
    }
    // Half of all are for links, and an eighth of that half for an address.
    const two = ['under way', 'under way']
    expect(await followAll('192.0.2.1', '192.0.2.1', '192.0.2.1')).to.deep.equal([...two, 503])
    expect(await followAll('2001:db8::1', '2001:db8::2', '2001:db8::3')).to.deep.equal([
      ...two,
      503,
    ])
    expect(await followAll('10.0.0.1', '10.0.0.1', '10.0.0.1')).to.deep.equal([...two, 'under way'])
    const others = Array.from({ length: 10 }, (_, n) => `192.0.2.${n + 10}`)
    expect(await followAll(...others)).to.deep.equal([
      ...Array.from({ length: 9 }, () => 'under way'),
      503,
    ])
    expect((await fetch(`${app.url}/list`, { headers: auth })).status).to.equal(200)
    released.resolve(undefined)
    for (const answer of await Promise.all(asked)) await answer.arrayBuffer()
    expect(await (await fetch(link)).text()).to.equal('content')
  })
})
