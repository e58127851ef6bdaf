import { expect } from 'chai'
import { readTerms } from '../../page/links/link-terms.ts'

describe('readTerms', () => {
  it('reads what the server has written into the page', () => {
    const terms = {
      customer: 'anna',
      name: 'in-',
      isPrefix: true,
      maxFiles: 3,
      replace: false,
      isUsedUp: false,
    }
    expect(readTerms(JSON.stringify({ ...terms, expires: '2026-11-23T18:00:00Z' }))).to.deep.equal({
      ...terms,
      expires: new Date('2026-11-23T18:00:00Z'),
    })
  })

  it('knows a link that was refused, and too many of them', () => {
    expect(readTerms('{"refused":"link-refused"}')).to.equal('refused')
    expect(readTerms('{"refused":"too-many-attempts"}')).to.equal('tooMany')
    expect(readTerms('{"refused":"overloaded"}')).to.equal('busy')
    expect(readTerms('{"refused":"not-found"}')).to.equal('missing')
    expect(readTerms(undefined)).to.equal('refused')
  })
})
