import { adviceText } from '@holdfast/core'
import { expect } from 'chai'
import { certificateWarnings } from '../../src/tls/open-certificate.ts'

const day = 86_400_000
const files = { certificate: 'cert.pem', key: 'key.pem' }
const certificate = {
  certificate: '',
  privateKey: '',
  validFromMs: 0,
  validToMs: 100 * day,
  keyMode: 0o640,
}

describe('certificateWarnings', () => {
  const at = (days: number, changes: object = {}) =>
    certificateWarnings(files, { ...certificate, ...changes }, days * day).map(adviceText)

  it('says nothing of a valid certificate whose key others may not read', () => {
    expect(at(0)).to.deep.equal([])
    expect(at(85.9)).to.deep.equal([])
    expect(at(50, { keyMode: undefined })).to.deep.equal([])
  })

  it('says from 14 days before its end on how long it is valid', () => {
    expect(at(86)).to.deep.equal([
      'cert.pem: the TLS certificate expires in 14 days, at 1970-04-11T00:00:00.000Z; renew it; the server loads the new one without a restart',
    ])
    expect(at(97.5)[0]).to.include('expires in 2 days')
    expect(at(98.5)[0]).to.include('expires in 36 hours')
  })

  it('says that it has expired, or is not valid yet', () => {
    expect(at(100)[0]).to.include('cert.pem: the TLS certificate expired at 1970-04-11')
    expect(at(200)).to.have.length(1)
    expect(at(-1)[0]).to.include('is not valid before 1970-01-01').and.to.include('clock')
  })

  it('says that every user may read or write the key', () => {
    expect(at(50, { keyMode: 0o644 })).to.deep.equal([
      'key.pem: the TLS key may be read by every user of this machine; run: chmod o= key.pem',
    ])
    expect(at(50, { keyMode: 0o666 })[0]).to.include('may be written by every user')
  })
})
