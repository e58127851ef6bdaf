import { runReadme } from '@holdfast/testing'
import { expect } from 'chai'

describe('The README of @holdfast/store-disk', () => {
  it('shows an example that runs', async () => {
    expect(await runReadme(import.meta.dirname)).to.equal('ello')
  })
})
