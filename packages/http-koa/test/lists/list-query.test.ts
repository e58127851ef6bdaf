import { expect } from 'chai'
import { parseListQuery } from '../../src/lists/list.ts'

const parse = (query: string) => parseListQuery(new URLSearchParams(query))

describe('parseListQuery', () => {
  it('reads limit, after, prefix and details, each on its own', () => {
    expect(parse('')).to.deep.equal({ details: false })
    expect(parse('limit=1')).to.deep.equal({ details: false, limit: 1 })
    expect(parse('after=a%2Bb')).to.deep.equal({ details: false, after: 'a+b' })
    expect(parse('prefix=%C3%A4')).to.deep.equal({ details: false, prefix: 'ä' })
    expect(parse('details=1')).to.deep.equal({ details: true })
    expect(parse('limit=010&after=b&prefix=a')).to.deep.equal({
      details: false,
      limit: 10,
      after: 'b',
      prefix: 'a',
    })
  })

  it('takes an empty after or prefix as given, and passes over what it does not know', () => {
    expect(parse('after=&prefix=&order=desc')).to.deep.equal({
      details: false,
      after: '',
      prefix: '',
    })
  })

  for (const limit of ['', '0', '-1', '1.5', '1e3', '0x1', ' 1', 'all', '9007199254740992', '١']) {
    it(`refuses the limit ${JSON.stringify(limit)}`, () => {
      expect(() => parse(new URLSearchParams({ limit }).toString()))
        .to.throw('Invalid limit: it must be a whole number from 1')
        .with.property('status', 400)
    })
  }

  for (const details of ['', '0', '2', 'true', '01', '1 ']) {
    it(`refuses the details ${JSON.stringify(details)}`, () => {
      expect(() => parse(new URLSearchParams({ details }).toString()))
        .to.throw('Invalid details: it must be 1')
        .with.property('status', 400)
    })
  }

  for (const parameter of ['limit', 'after', 'prefix', 'details']) {
    it(`refuses two of ${parameter}`, () => {
      expect(() => parse(`${parameter}=1&${parameter}=1`))
        .to.throw(`Invalid ${parameter}: it is sent twice`)
        .with.property('status', 400)
    })
  }
})
