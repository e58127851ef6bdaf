import { withReadmeServer } from '@holdfast/testing'
import { expect } from 'chai'

describe('The README of @holdfast/web', () => {
  it('shows a server with the page', () =>
    withReadmeServer(import.meta.dirname, 'In an application of your own', async (url) => {
      const answer = await fetch(url, { headers: { Accept: 'text/html' } })
      expect(answer.status).to.equal(200)
      expect(await answer.text()).to.include('<title>holdfast</title>')
    }))
})
