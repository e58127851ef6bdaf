import { expect } from 'chai'
import { nextPage } from '../../src/lists/list.ts'

describe('nextPage', () => {
  for (const [query, last, expected] of [
    ['limit=2', 'a', '?limit=2&after=a'],
    ['after=a&limit=2&prefix=%C3%A4+b', 'z', '?after=z&limit=2&prefix=%C3%A4%20b'],
    ['limit=1', 'a b+c&d=e>"\u{1f600}', '?limit=1&after=a%20b%2Bc%26d%3De%3E%22%F0%9F%98%80'],
  ] as const) {
    it(`leads from ${query} to the page after ${last}`, () => {
      const link = nextPage(new URLSearchParams(query), last)
      expect(link).to.equal(`<${expected}>; rel="next"`)
      const target = new URL(expected, 'http://localhost/files/list?limit=9')
      expect(target.pathname).to.equal('/files/list')
      expect(target.searchParams.get('after')).to.equal(last)
    })
  }
})
