import { expect } from 'chai'
import { uploadHead } from '../../src/connection.ts'

describe('uploadHead', () => {
  it('is the head of a PUT of the customer, up to the empty line', () => {
    expect(uploadHead('a.txt', 3, ['Expect: 100-continue'])).to.equal(
      [
        'PUT /upload/a.txt HTTP/1.1',
        'Host: holdfast',
        'Content-Length: 3',
        'x-auth-name: demo',
        'x-auth-password: correct horse',
        'Expect: 100-continue',
        '\r\n',
      ].join('\r\n'),
    )
  })
})
