import { expect } from 'chai'
import { isOrigin } from '../../src/http/is-origin.ts'

describe('isOrigin', () => {
  for (const text of ['https://a.example', 'http://localhost:8080', 'http://[::1]:3000', '*']) {
    it(`takes ${text}`, () => {
      expect(isOrigin(text)).to.equal(true)
    })
  }

  for (const text of [
    '',
    'a.example',
    'https://a.example/',
    'https://a.example:443',
    'https://A.example',
    'https://*.example',
    'https://*',
    'https://key@a.example',
    'null',
    'ftp://a',
  ]) {
    it(`refuses "${text}"`, () => {
      expect(isOrigin(text)).to.equal(false)
    })
  }
})
