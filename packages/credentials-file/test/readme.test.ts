import { runReadme } from '@holdfast/testing'
import { expect } from 'chai'

describe('The README of @holdfast/credentials-file', () => {
  it('shows an example that runs', async () => {
    expect(await runReadme(import.meta.dirname)).to.equal('true\nfalse\n')
  })
})
