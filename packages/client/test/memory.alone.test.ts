import { execFile } from 'node:child_process'
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createSite, credentials, startHoldfast } from '@holdfast/testing'
import { expect } from 'chai'

describe('The memory of a client', function () {
  this.timeout(120_000)

  it('does not grow with what it uploads and downloads', async () => {
    const site = await createSite()
    const server = await startHoldfast([], { cwd: site.path })
    try {
      const path = join(site.path, 'large')
      await writeFile(path, '')
      await truncate(path, 384 * 1024 ** 2)
      const child = join(import.meta.dirname, 'children/move-much.ts')
      const login = [credentials['x-auth-name'], credentials['x-auth-password']]
      const args = [child, server.url, ...login, path]
      const { stdout } = await promisify(execFile)(process.execPath, args)
      // Node itself takes 60 to 80, and three parts of the stream 24.
      expect(Number(stdout)).to.be.within(40, 300)
    } finally {
      await server.kill()
      await site.remove()
    }
  })
})
