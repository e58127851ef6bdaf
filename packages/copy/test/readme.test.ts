import { runReadme } from '@holdfast/testing'
import { expect } from 'chai'

describe('The README of @holdfast/copy', () => {
  it('shows an example that runs', async () => {
    expect(await runReadme(import.meta.dirname)).to.equal('1 copied, 0 there already\n')
  })
})
