import { runReadme } from '@holdfast/testing'
import { expect } from 'chai'

describe('The README of @holdfast/passwords', () => {
  it('shows an example that runs', async () => {
    expect(await runReadme(import.meta.dirname)).to.equal('hello.txt\n')
  })
})
