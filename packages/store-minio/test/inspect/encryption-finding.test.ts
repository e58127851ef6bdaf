import { expect } from 'chai'
import { encryptionFinding } from '../../src/inspect/inspect-bucket.ts'

describe('encryptionFinding', () => {
  for (const [endpoint, message] of [
    ['https://minio.example.com', 'TLS on the way to the server'],
    ['http://127.0.0.2:9000', 'not needed: the server, or a proxy to it, is on this machine'],
    ['http://[::1]:9000', 'not needed: the server, or a proxy to it, is on this machine'],
    ['http://localhost:9000', 'not needed: the server, or a proxy to it, is on this machine'],
  ] as const) {
    it(`is content with ${endpoint}`, () => {
      expect(encryptionFinding(endpoint)).to.deep.include({ mark: 'ok', message })
    })
  }

  for (const host of ['10.0.0.1', 'minio', '127.example.com', '[fd00::1]']) {
    it(`warns of http://${host}`, () => {
      const { mark, message, remedies } = encryptionFinding(`http://${host}:9000`)
      expect(mark).to.equal('warning')
      expect(message).to.include(`files go to ${host} without encryption`)
      expect(remedies.join()).to.include('https://')
    })
  }
})
