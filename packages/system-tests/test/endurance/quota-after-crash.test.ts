import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  cheapHash,
  createSite,
  credentials,
  type HoldfastServer,
  type Site,
  startHoldfast,
  until,
} from '@holdfast/testing'
import { expect } from 'chai'
import { createChoices, type Choices } from './soak/choices.ts'
import { withSeed } from './with-seed.ts'

const quota = 4_000_000
const rounds = 2
const clients = 8

const figures = { kills: 0, acknowledged: 0, refused: 0 }

describe('A quota', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
    await site.write(
      'customers.yaml',
      `customers:\n  - { name: demo, password: '${cheapHash('correct horse')}', quota: ${quota} }\n`,
    )
  })
  afterEach(() => site.remove())
  after(() => {
    const { kills, acknowledged, refused } = figures
    console.log(
      `figures: quota after a crash: ${kills} kills, ${acknowledged} uploads acknowledged, ${refused} refused, none beyond the quota`,
    )
  })

  const files = () => join(site.path, 'data/files/demo')
  /** What is really on the disk. */
  const kept = async () => {
    const names = await readdir(files()).catch(() => [])
    const sizes = await Promise.all(
      names.map(async (name) => (await stat(join(files(), name))).size),
    )
    return sizes.reduce((sum, size) => sum + size, 0)
  }
  const put = async ({ url }: HoldfastServer, name: string, size: number) => {
    const init = { method: 'PUT', headers: credentials, body: new Uint8Array(size) }
    const answer = await fetch(`${url}/upload/${encodeURIComponent(name)}`, init)
    await answer.arrayBuffer()
    return answer.status
  }

  /** Uploads and replaces files of half a megabyte at most, until the server is gone. */
  const keepUploading = async (server: HoldfastServer, client: number, choices: Choices) => {
    for (let count = 0; ; count++) {
      try {
        const size = choices.below(500_000)
        const status = await put(server, `client ${client} file ${count % 3}`, size)
        expect(status).to.be.oneOf([200, 413])
        figures[status === 200 ? 'acknowledged' : 'refused']++
      } catch (error) {
        if (error instanceof TypeError) return
        throw error
      }
    }
  }

  it('is counted anew after a kill in the middle of uploads, and can be filled to the byte', async function () {
    this.timeout(60_000)
    await withSeed(killInRounds)
  })

  const killInRounds = async (seed: number) => {
    for (let round = 0; round < rounds; round++) {
      const server = await startHoldfast([], { cwd: site.path })
      const uploading = Promise.all(
        Array.from({ length: clients }, (_, client) =>
          keepUploading(server, client, createChoices(seed, `round ${round}, client ${client}`)),
        ),
      )
      const { refused } = figures
      await until('uploads have come up against the quota', () => figures.refused > refused + 5)
      await server.kill()
      figures.kills++
      await uploading
      expect(await kept(), 'after the kill').to.be.within(quota / 2, quota)

      const next = await startHoldfast([], { cwd: site.path })
      try {
        const room = quota - (await kept())
        expect(await put(next, 'one too many', room + 1)).to.equal(413)
        expect(await put(next, 'the rest', room)).to.equal(200)
        expect(await put(next, 'a byte', 1)).to.equal(413)
        expect(await kept()).to.equal(quota)
      } finally {
        await next.kill()
      }
      await rm(files(), { recursive: true })
    }
  }
})
