import { expect } from 'chai'
import { closestWord } from '../../src/setup/closest-word.ts'

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
    expect(closestWord('b', ['bat', 'bit'])).to.equal('bat')
  })

  it('is no word of which nothing is left', () => {
    expect(closestWord('xy', ['ab'])).to.equal(undefined)
  })
})
