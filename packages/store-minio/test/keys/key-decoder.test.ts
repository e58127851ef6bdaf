import { expect } from 'chai'
import { keyDecoder } from '../../src/keys/object-keys.ts'

describe('keyDecoder', () => {
  const keys = ['%', '100%', '%41', '%ZZ', 'a+b', 'a b', 'a%20b', '%E4', 'é', '%25']

  it('leaves keys alone that the server does not say it has encoded', () => {
    for (const said of [undefined, '', 'none']) {
      expect(keys.map(keyDecoder(said))).to.deep.equal(keys)
    }
  })

  it('decodes what the server says it has encoded, as form data or as a URL', () => {
    const decode = keyDecoder('url')
    expect(keys.map((key) => decode(encodeURIComponent(key)))).to.deep.equal(keys)
    const asForm = (key: string) => new URLSearchParams({ key }).toString().slice('key='.length)
    expect(keys.map((key) => decode(asForm(key)))).to.deep.equal(keys)
  })

  it('takes what is no encoding for a key as it is', () => {
    for (const key of ['%', '100%', '%ZZ', '%E4', '+%'])
      expect(keyDecoder('url')(key)).to.equal(key)
  })
})
