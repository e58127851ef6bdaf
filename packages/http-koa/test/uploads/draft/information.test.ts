import { connect } from 'node:net'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { auth } from '../../support/running-app.ts'
import { createClient, piece, read, running, version } from './draft-client.ts'

describe('the interim responses of the draft of resumable uploads', () => {
  it('reports how far an upload is while a long part of it arrives', async () => {
    await using app = await running()
    const { upload } = await createClient(app).begin('He', { 'Upload-Length': '9' })
    const fields = { ...auth, ...version, ...piece, Host: 'a', 'Upload-Offset': '2' }
    const part = { ...fields, 'Upload-Complete': '?1', 'Content-Length': '7' }
    const head = Object.entries(part).map(([name, value]) => `${name}: ${value}\r\n`)
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
    let seen = ''
    socket.on('data', (bytes) => (seen += bytes.toString('latin1')))
    socket.write(`PATCH ${upload} HTTP/1.1\r\n${head.join('')}\r\nllo`)
    await until('the offset', () => seen.endsWith('\r\n\r\n'))
    expect(seen).to.match(/^HTTP\/1\.1 104 .*\r\nUpload-Offset: 5\r\n/)
    expect(seen).not.to.match(/location/i)
    socket.write(' you')
    await until('the answer', () => seen.includes('OK'))
    socket.destroy()
    expect(seen).to.include('HTTP/1.1 200 OK')
    expect(await read(app)).to.equal('Hello you')
  })

  it('sends 104 only to a client that speaks this version, and only by HTTP/1.1', async () => {
    await using app = await running()
    for (const [versionOfHttp, fields] of [
      ['1.1', {}],
      ['1.1', { 'Upload-Draft-Interop-Version': '6' }],
      ['1.0', version],
    ] as const) {
      const { upload } = await createClient(app).begin('He')
      const part = { ...auth, ...piece, ...fields, Host: 'a', 'Upload-Offset': '2' }
      const lines = Object.entries({ ...part, 'Upload-Complete': '?0', 'Content-Length': '3' })
      const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
      const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
      let seen = ''
      socket.on('data', (bytes) => (seen += bytes.toString('latin1')))
      socket.write(`PATCH ${upload} HTTP/${versionOfHttp}\r\n${head}\r\nllo`)
      await until('the answer', () => seen.includes('\r\n\r\n'))
      socket.destroy()
      expect(seen).to.match(/^HTTP\/1\.1 204 /)
    }
  })
})
