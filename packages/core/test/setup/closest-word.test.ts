import { expect } from 'chai'
import { closestWord } from '../../src/setup/setting-values.ts'

describe('closestWord', () => {
  const flags = ['port', 'host', 'max-file-size', 'max-requests']

  for (const [word, meant] of [
    ['PORT', 'port'],
    ['prot', 'port'],
    ['hots', 'host'],
    ['max-filesize', 'max-file-size'],
    ['max-request', 'max-requests'],
  ] as const) {
    it(`is ${meant} for ${word}`, () => {
      expect(closestWord(word, flags)).to.equal(meant)
    })
  }

  for (const word of ['', 'p', 'quota', 'max-files']) {
    it(`is none for "${word}", which is more than two edits from every word`, () => {
      expect(closestWord(word, flags)).to.equal(undefined)
    })
  }

  it('is the first of those that are equally close', () => {
    expect(closestWord('ba', ['bat', 'bar'])).to.equal('bat')
  })

  it('is no word of which nothing is left', () => {
    expect(closestWord('x', ['a'])).to.equal(undefined)
  })

  it('is at most one edit from a short word', () => {
    expect(closestWord('foo', ['from'])).to.equal(undefined)
    expect(closestWord('mv', ['rm', 'ls'])).to.equal(undefined)
    expect(closestWord('gte', ['get'])).to.equal(undefined)
    expect(closestWord('gt', ['get'])).to.equal('get')
  })
})
