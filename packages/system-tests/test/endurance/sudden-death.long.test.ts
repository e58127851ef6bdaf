// It kills a server eight times over.
import { createHash, randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createSite, credentials, startHoldfast, until } from '@holdfast/testing'
import { expect } from 'chai'
import { createChoices, type Choices } from './soak/choices.ts'
import { withSeed } from './with-seed.ts'

/** What is known of one name: what was acknowledged last, and what may have been stored since. */
interface Ledger {
  acknowledged: string | undefined
  /** Digests of uploads that were under way when the server died; any one of them may have made it. */
  readonly pending: Set<string>
}

const rounds = 8
const clients = 6
const namesPerClient = 5

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function upload(
  url: string,
  name: string,
  content: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const form = new FormData()
  form.append('file', new Blob([content]), name)
  const answer = await fetch(`${url}/upload`, { method: 'POST', headers: credentials, body: form })
  return (await answer.text()) === 'OK' && answer.status === 200
}

/** Uploads to a few names of its own, over and over, until the server is gone; tells each that is acknowledged. */
async function keepUploading(
  url: string,
  client: number,
  ledgers: Map<string, Ledger>,
  choices: Choices,
  onAcknowledged: () => void,
): Promise<void> {
  for (let count = 0; ; count++) {
    const name = `client ${client} file ${count % namesPerClient}`
    const content = randomBytes(Math.floor((choices.below(1000) / 1000) ** 4 * 4e6))
    const ledger = ledgers.get(name) ?? { acknowledged: undefined, pending: new Set<string>() }
    ledgers.set(name, ledger)
    ledger.pending.add(digest(content))
    try {
      expect(await upload(url, name, content), 'an answer other than OK').to.equal(true)
    } catch (error) {
      if (error instanceof TypeError) return
      throw error
    }
    ledger.acknowledged = digest(content)
    ledger.pending.clear()
    onAcknowledged()
  }
}

/** Compares what the server has with what it promised. */
async function audit(url: string, ledgers: Map<string, Ledger>): Promise<void> {
  const answer = await fetch(`${url}/list`, { headers: credentials })
  const listed = answer.status === 200 ? ((await answer.json()) as string[]) : []
  for (const [name, { acknowledged }] of ledgers) {
    if (acknowledged !== undefined) expect(listed, 'an acknowledged file is there').to.include(name)
  }
  for (const name of listed) {
    const served = await fetch(`${url}/serve/${encodeURIComponent(name)}`, { headers: credentials })
    const found = digest(await served.bytes())
    const ledger = ledgers.get(name)
    expect([ledger?.acknowledged, ...(ledger?.pending ?? [])], `${name} is whole`).to.include(found)
    // From here on this is what counts as stored.
    ledgers.set(name, { acknowledged: found, pending: new Set() })
  }
}

async function litter(directory: string): Promise<string[]> {
  const temporary = join(directory, 'data', 'tmp')
  const owners = await readdir(temporary)
  const left = await Promise.all(owners.map((owner) => readdir(join(temporary, owner))))
  return left.flat()
}

describe('holdfast serve, killed with SIGKILL during uploads', () => {
  it('keeps every acknowledged file, shows only whole ones, and leaves no litter', async function () {
    this.timeout(300_000)
    const site = await createSite()
    const ledgers = new Map<string, Ledger>()
    let acknowledged = 0
    try {
      await withSeed(async (seed) => {
        const choices = createChoices(seed, 'moments')
        for (let round = 0; round < rounds; round++) {
          const server = await startHoldfast([], { cwd: site.path })
          await audit(server.url, ledgers)
          const owners = await readdir(join(site.path, 'data', 'tmp'))
          expect(owners, 'only the live process owns temporary files').to.have.length(1)
          expect(await litter(site.path)).to.deep.equal([])

          const uploading = Promise.all(
            Array.from({ length: clients }, (_, client) =>
              keepUploading(
                server.url,
                client,
                ledgers,
                createChoices(seed, `round ${round}, client ${client}`),
                () => acknowledged++,
              ),
            ),
          )
          const enough = acknowledged + clients
          // Any moment is a good one to die; it only has to be another one in each round, with something to lose.
          await Promise.race([delay(choices.between(150, 750)), uploading])
          await until('some uploads are acknowledged', () => acknowledged > enough, 60_000)
          await server.kill()
          await uploading
        }
        const server = await startHoldfast([], { cwd: site.path })
        await audit(server.url, ledgers)
        expect(await litter(site.path)).to.deep.equal([])
        server.signal('SIGTERM')
        expect(await server.ended).to.equal(0)
        expect(await readdir(join(site.path, 'data', 'tmp')), 'after a clean end').to.deep.equal([])
      })
    } finally {
      await site.remove()
    }
  })
})
