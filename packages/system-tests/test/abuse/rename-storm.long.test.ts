// It keeps two servers busy for some seconds.
import {
  createSite,
  credentials,
  type HoldfastServer,
  openDescriptors,
  residentMiB,
  type Site,
  startHoldfast,
  until,
} from '@holdfast/testing'
import { expect } from 'chai'

const names = Array.from({ length: 12 }, (_, index) => `name-${index}`)
const files = names.slice(0, 6)
const loops = 48
const renamesPerLoop = 60

describe('a storm of renames, on two servers with one directory', function () {
  this.timeout(180_000)
  let site: Site
  const servers: HoldfastServer[] = []
  beforeEach(async () => {
    site = await createSite()
    for (const workers of ['1', '2']) {
      servers.push(await startHoldfast(['--workers', workers], { cwd: site.path }))
    }
  })
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.kill()
    await site.remove()
  })

  const send = (url: string, method: string, path: string, body?: string) =>
    fetch(`${url}${path}`, { method, headers: credentials, ...(body !== undefined && { body }) })

  it('loses no file, doubles none, leaves nothing, and answers others meanwhile', async () => {
    const [one, other] = servers
    if (!one || !other) throw new Error('Two servers run')
    const [first, second, pid] = [one.url, other.url, one.pid]
    for (const name of files) {
      expect((await send(first, 'PUT', `/upload/${name}`, `content of ${name}`)).status).to.equal(
        200,
      )
    }
    const before = await residentMiB(pid)
    const statuses = new Map<number, number>()
    let isOver = false
    const storm = Array.from({ length: loops }, async (_, loop) => {
      const url = loop % 2 ? second : first
      for (let count = 0; count < renamesPerLoop; count++) {
        const from = names[(loop * 7 + count * 5) % names.length] ?? ''
        const to = names[(loop * 3 + count * 11) % names.length] ?? ''
        const body = JSON.stringify({ to, createOnly: true })
        const answer = await send(url, 'POST', `/rename/${from}`, body)
        await answer.arrayBuffer()
        if (answer.status === 503) expect(answer.headers.get('retry-after')).to.match(/^\d+$/)
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      }
    })
    const others = (async () => {
      let worst = 0
      while (!isOver) {
        const begin = performance.now()
        expect((await send(first, 'PUT', '/upload/other', 'x')).status).to.equal(200)
        worst = Math.max(worst, performance.now() - begin)
      }
      return worst
    })()
    await Promise.all(storm).finally(() => (isOver = true))
    const worst = await others
    expect(
      [...statuses.keys()].filter((status) => ![200, 400, 412, 503].includes(status)),
    ).to.deep.equal([])
    expect(statuses.get(200)).to.be.above(loops)
    const list = (await (await send(second, 'GET', '/list')).json()) as string[]
    const contents = await Promise.all(
      list.map(async (name) => (await send(first, 'GET', `/serve/${name}`)).text()),
    )
    expect(contents.toSorted()).to.deep.equal(
      [...files.map((name) => `content of ${name}`), 'x'].toSorted(),
    )
    await until('nothing is left', async () => (await site.litter()).length === 0)
    expect((await residentMiB(pid)).now - before.now).to.be.below(150)
    expect(await openDescriptors(pid)).to.be.below(200)
    const counts = [...statuses].map(([status, count]) => `${count} x ${status}`).join(', ')
    console.log(
      `figures: rename storm: ${counts}; another upload took ${Math.round(worst)} ms at most`,
    )
  })
})
