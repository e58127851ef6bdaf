import { expect } from 'chai'
import { formOf, withForm } from '../load/form.ts'
import { requestBytes } from '../load/request-bytes.ts'

describe('requestBytes', () => {
  it('is a request as it goes over the wire', () => {
    const headers = { 'x-auth-name': 'demo' }
    expect(requestBytes({ method: 'GET', path: '/ping', headers }, 80).toString()).to.equal(
      'GET /ping HTTP/1.1\r\nHost: 127.0.0.1:80\r\nx-auth-name: demo\r\n\r\n',
    )
  })

  it('has the length of the body as it will be, with six digits for each {n}', () => {
    const body = Buffer.from('a {n}, and {n}')
    const text = requestBytes({ method: 'PUT', path: '/{n}', body }, 80).toString()
    expect(text).to.include(`Content-Length: ${'a 000000, and 000000'.length}\r\n`)
    expect(text).to.match(/^PUT \/\{n\} .*\r\n\r\na \{n\}, and \{n\}$/s)
  })

  it('takes every byte of a body for one', () => {
    const content = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
    const request = withForm({ method: 'POST', path: '/' }, formOf(['one', 'two'], content))
    const bytes = requestBytes(request, 80)
    const length = Number(/Content-Length: (\d+)/.exec(bytes.toString('latin1'))?.[1])
    expect(bytes.length - bytes.indexOf('\r\n\r\n') - 4).to.equal(length)
  })
})
