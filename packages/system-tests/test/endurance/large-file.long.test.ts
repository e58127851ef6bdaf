// It stores a file of 384 MiB twice, and serves it.
import { createSite, residentMiB, resetPeak, startHoldfast } from '@holdfast/testing'
import { expect } from 'chai'
import { digestOf, postForm, pseudoRandom, putRaw, serve, warmUp } from './large-content.ts'

/** Four times what the server may take. */
const size = 384 * 1024 ** 2
const allowedMiB = 96

describe('a file of 384 MiB', () => {
  it('goes up as a form and raw, and down, whole and within 96 MiB of memory', async function () {
    this.timeout(180_000)
    const site = await createSite()
    const server = await startHoldfast([], { cwd: site.path })
    try {
      const expected = await digestOf(pseudoRandom(size))
      await warmUp(server.url)
      await resetPeak(server.pid)
      const { now: before } = await residentMiB(server.pid)

      expect(await postForm(server.url, 'big.bin', size)).to.equal(200)
      expect(await putRaw(server.url, 'raw.bin', size)).to.equal(200)
      for (const name of ['big.bin', 'raw.bin']) {
        const served = await serve(server.url, name)
        expect(served.headers['content-length']).to.equal(`${size}`)
        expect(await digestOf(served)).to.equal(expected)
      }
      const growth = (await residentMiB(server.pid)).most - before
      expect(growth, 'MiB of resident memory beyond the idle server').to.be.below(allowedMiB)
    } finally {
      await server.kill()
      await site.remove()
    }
  })
})
