// It compares how long answers take, under a flood and without.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Agent, get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  createSite,
  credentials,
  type HoldfastServer,
  type Site,
  startHoldfast,
  until,
} from '@holdfast/testing'
import { expect } from 'chai'
import type { FloodCount, FloodOrder } from './login-flood-process.ts'

const program = fileURLToPath(new URL('login-flood-process.ts', import.meta.url))
const calm: FloodOrder = { perSecond: 0, addresses: 1 }
/** Some ten times as many as can be hashed, none of them stopped by the brake. */
const flood: FloodOrder = { perSecond: 200, addresses: 60_000 }

describe('a flood of wrong passwords', function () {
  this.timeout(60_000)
  const figures: string[] = []
  let site: Site
  let server: HoldfastServer
  let child: ChildProcess
  beforeEach(async () => {
    site = await createSite()
    await site.write(
      'customers.yaml',
      'customers: [{name: demo, password: correct horse}, {name: late, password: battery staple}]\n',
    )
    server = await startHoldfast(['--trust-proxy', '127.0.0.1'], { cwd: site.path })
    child = fork(program, [server.url])
    await fetch(`${server.url}/upload/file`, {
      method: 'PUT',
      headers: credentials,
      body: Buffer.alloc(4096),
    })
  })
  afterEach(async () => {
    child.kill()
    await server.kill()
    await site.remove()
  })
  after(() => {
    console.log(`figures: login flood: ${figures.join('; ')}`)
  })

  /** Orders the flood; what has been answered so far. */
  async function order(next: FloodOrder): Promise<FloodCount> {
    const counted = once(child, 'message') as Promise<[FloodCount]>
    child.send(next)
    return (await counted)[0]
  }

  async function compare() {
    const quiet: number[] = []
    const flooded: number[] = []
    for (let round = 0; round < 5; round++) {
      quiet.push(...(await latencies(server.url, 700)))
      await order(flood)
      flooded.push(...(await latencies(server.url, 700)))
      await order(calm)
    }
    return { quiet, flooded, ratio: median(flooded) / median(quiet) }
  }

  it('leaves the median latency of a customer at work below twice its own', async () => {
    let { quiet, flooded, ratio } = await compare()
    // The machine may have other things to do, once.
    if (ratio >= 2) ({ quiet, flooded, ratio } = await compare())
    const answers = await order(calm)
    figures.push(
      `${sum(answers)} wrong logins (${JSON.stringify(answers)}) on ${availableParallelism()} processors, ` +
        `median of ${quiet.length} quiet requests ${median(quiet).toFixed(2)} ms, ` +
        `of ${flooded.length} under flood ${median(flooded).toFixed(2)} ms, ratio ${ratio.toFixed(2)}`,
    )
    expect(answers['400'], 'hashed').to.be.greaterThan(10)
    expect(answers['503'], 'refused').to.be.greaterThan(10)
    expect(ratio).to.be.lessThan(2)
  })

  it('from twenty addresses does not keep out a customer who logs in for the first time', async () => {
    const few: FloodOrder = { perSecond: 400, addresses: 20 }
    const { 503: before = 0 } = await order(few)
    await until(
      () => 'the flood has filled the queue',
      async () => ((await order(few))[503] ?? 0) > before + 50,
    )
    const begin = performance.now()
    const headers = { 'x-auth-name': 'late', 'x-auth-password': 'battery staple' }
    const answer = await fetch(`${server.url}/list`, {
      headers: { ...headers, 'x-forwarded-for': '203.0.113.9' },
    })
    const seconds = (performance.now() - begin) / 1000
    await order(calm)
    figures.push(`first login among 20 flooding addresses after ${seconds.toFixed(1)} s`)
    expect(await answer.json()).to.include({ message: 'No files uploaded yet' })
  })
})

/** How long requests take, one after another for so many milliseconds. */
async function latencies(url: string, milliseconds: number): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true })
  const taken: number[] = []
  const end = performance.now() + milliseconds
  while (performance.now() < end) {
    const begin = performance.now()
    await new Promise<void>((resolve, reject) => {
      const request = get(`${url}/serve/file`, { agent, headers: credentials }, (response) => {
        response.resume().once('end', resolve)
        expect(response.statusCode).to.equal(200)
      })
      request.once('error', reject)
    })
    taken.push(performance.now() - begin)
    await delay(1)
  }
  agent.destroy()
  return taken
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? NaN
}

function sum(answers: FloodCount): number {
  return Object.values(answers).reduce((one, other) => one + other, 0)
}
