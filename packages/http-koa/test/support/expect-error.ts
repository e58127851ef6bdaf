import { STATUS_CODES } from 'node:http'
import { expect } from 'chai'
import { type Answer } from '@holdfast/testing'

/** The one form that every error has: exactly three fields, which agree with the status line. */
export function expectError({ status, headers, body }: Answer): void {
  const { message, ...rest } = JSON.parse(body || '"no body"') as { readonly message: unknown }
  expect(rest).to.deep.equal({ statusCode: status, error: STATUS_CODES[status] })
  expect(message).to.be.a('string').that.is.not.empty
  expect(headers.get('content-type')).to.equal('application/json; charset=utf-8')
  expect(headers.get('content-length')).to.equal(`${body.length}`)
}
