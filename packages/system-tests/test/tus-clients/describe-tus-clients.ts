import { createHash } from 'node:crypto'
import { credentials, until, type HoldfastServer } from '@holdfast/testing'
import { expect } from 'chai'
import { beginExpiringUploads, type ExpiringUploads } from './support/begin-expiring-uploads.ts'
import { filesOf } from './support/files-of.ts'
import { openWorkplace, type OpenWorkplace } from './support/open-workplace.ts'
import type { Ability, StartServer, TusClient, UploadJob } from './tus-client.ts'
import { tusClients } from './tus-clients.ts'

const mebibyte = 1024 * 1024
const size = 20 * mebibyte

/** Composed and decomposed accents, other scripts, an emoji, quotes and a comma. */
const name = 'Grüße, e\u0301té "你好" עברית 🗄️.bin'

const stoppingClients = tusClients.filter(({ abilities }) => abilities.includes('stop'))

/** Has all clients upload to real servers, over a line that breaks. */
export function describeTusClients(store: string, start: StartServer): void {
  describe(`clients of tus, with ${store}`, function () {
    this.timeout(240_000)
    let server: HoldfastServer
    let workplace: OpenWorkplace
    let expired: ExpiringUploads

    before(async () => {
      // First, so that they expire while the other tests run.
      expired = await beginExpiringUploads(start, stoppingClients)
      server = await start([])
      workplace = await openWorkplace(server.url, size)
    })
    after(async () => {
      await workplace.close()
      await server.kill()
      await expired.close()
    })
    beforeEach(() => workplace.line.forget())
    afterEach(async () => {
      for (const each of await list()) await remove(each)
    })

    const { list, remove, digestOf, isThere } = filesOf(() => server.url)
    const jobOf = (more: Partial<UploadJob> = {}): UploadJob => ({
      endpoint: `${workplace.line.url}/resumable`,
      headers: credentials,
      name,
      ...more,
    })
    const counted = (method: string) =>
      workplace.line.requests.filter((request) => request.method === method)

    async function expectStored(): Promise<void> {
      expect(await list()).to.deep.equal([name])
      const digest = createHash('sha256').update(workplace.content).digest('hex')
      expect(await digestOf(name)).to.equal(digest)
    }

    /** The upload came in more than one request, and the last one did not begin at the beginning. */
    function expectResumed(): void {
      expect(counted('POST')).to.have.length(1)
      expect(counted('PATCH').at(-1)?.offset).to.be.greaterThan(0)
    }

    for (const client of tusClients) {
      describe(client.title, () => {
        const run = (job: UploadJob) => client.run(job, workplace)

        it('goes on where the line broke, and keeps the name', async () => {
          const broken = workplace.line.breakAfter(13 * mebibyte, 'cut')
          const { ending, message } = await run(jobOf())
          expect(ending, message).to.equal('stored')
          await broken
          expectResumed()
          await expectStored()
        })

        itIf(client, 'pause', 'pauses and resumes', async () => {
          const interruption = { at: 5 * mebibyte, kind: 'pause' } as const
          const { ending, message } = await run(jobOf({ pieceSize: mebibyte, interruption }))
          expect(ending, message).to.equal('stored')
          // A client that had not paused would never ask for the offset.
          expect(counted('HEAD')).not.to.deep.equal([])
          expectResumed()
          await expectStored()
        })

        itIf(client, 'stop', 'goes on with the URL in a new process', async () => {
          const interruption = { at: 5 * mebibyte, kind: 'stop' } as const
          const { ending, url } = await run(jobOf({ pieceSize: mebibyte, interruption }))
          expect(ending).to.equal('stopped')
          expect(await list()).to.deep.equal([])
          const outcome = await run(jobOf({ url }))
          expect(outcome.ending, outcome.message).to.equal('stored')
          expectResumed()
          await expectStored()
        })

        itIf(client, 'remember', 'goes on after its tab was closed', async () => {
          const stalled = workplace.line.breakAfter(13 * mebibyte, 'stall')
          const job = jobOf({ pieceSize: 4 * mebibyte, remembers: true })
          const first = run(job).catch(() => 'its tab was closed')
          await stalled
          await workplace.closeTabs()
          expect(await first).to.equal('its tab was closed')
          const { ending, message } = await run(job)
          expect(ending, message).to.equal('stored')
          expectResumed()
          await expectStored()
        })

        itIf(client, 'terminate', 'terminates an upload', async () => {
          const interruption = { at: 5 * mebibyte, kind: 'terminate' } as const
          const { ending, url } = await run(jobOf({ pieceSize: mebibyte, interruption }))
          expect(ending).to.equal('terminated')
          await until('the upload is gone', async () => !(await isThere(url)))
          expect(counted('DELETE')).to.have.length(1)
          expect(await list()).to.deep.equal([])
        })

        it('fails with a wrong password, and stores nothing', async () => {
          const headers = { ...credentials, 'x-auth-password': 'wrong' }
          const { ending, status } = await run(jobOf({ headers }))
          expect({ ending, status }).to.deep.equal({ ending: 'failed', status: 400 })
          expect(await list()).to.deep.equal([])
        })
      })
    }

    describe('after an upload has expired', () => {
      for (const client of stoppingClients) {
        const replaces = client.abilities.includes('replace')
        it(`${client.title} ${replaces ? 'begins anew' : 'fails, and stores nothing'}`, async () => {
          const { outcome, hasFile } = await expired.goOn(client)
          expect(hasFile).to.equal(replaces)
          expect(outcome.ending, outcome.message).to.equal(replaces ? 'stored' : 'failed')
          if (!replaces) expect(outcome.status).to.be.oneOf([404, 410])
        })
      }
    })
  })
}

function itIf(
  { abilities }: TusClient,
  ability: Ability,
  title: string,
  test: () => Promise<void>,
): void {
  if (abilities.includes(ability)) it(title, test)
}
