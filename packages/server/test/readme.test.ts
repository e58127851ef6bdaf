import { createSite, runReadme } from '@holdfast/testing'
import { expect } from 'chai'

describe('The README of @holdfast/server', () => {
  it('shows an example that runs', async () => {
    const site = await createSite()
    try {
      expect(await runReadme(import.meta.dirname, { cwd: site.path })).to.equal('pong\ntrue\n')
    } finally {
      await site.remove()
    }
  })
})
