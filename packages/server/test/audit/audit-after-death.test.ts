import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { createAuditedSite, parseTrail, trailName, upload } from './audited-site.ts'

const rounds = 4
const clients = 8

describe('holdfast serve --audit-log, killed with SIGKILL during uploads', () => {
  let acknowledged = 0
  after(() => {
    console.log(
      `figures: audit trail: ${rounds} kills, ${acknowledged} acknowledged uploads, each with its line`,
    )
  })

  it('has a line for every upload that was acknowledged, and no torn one', async function () {
    this.timeout(60_000)
    const site = await createAuditedSite()
    try {
      const ids: string[] = []
      for (let round = 0; round < rounds; round++) {
        const server = await site.start()
        const goal = ids.length + 20 + 25 * round
        const keepUploading = async (client: number) => {
          for (let count = 0; ; count++) {
            const id = `${round}-${client}-${count}`
            const answer = await upload(server.url, `file-${client}`, id).catch(gone)
            if (answer === undefined) return
            expect(answer).to.equal('OK')
            ids.push(id)
          }
        }
        const uploading = Promise.all(
          Array.from({ length: clients }, (_, client) => keepUploading(client)),
        )
        await until('enough is acknowledged', () => ids.length >= goal)
        await server.kill()
        await uploading
      }
      acknowledged = ids.length
      const lines = parseTrail(await readFile(join(site.path, trailName), 'utf8'))
      const told = lines.filter(({ outcome }) => outcome === 'ok').map(({ requestId }) => requestId)
      expect(told).to.include.members(ids)
    } finally {
      await site.remove()
    }
  })
})

/** `undefined` for the end of the connection; everything else is a failure of the test. */
function gone(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error
}
