import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { receiveBatch } from '../../src/uploads/batch.ts'
import { filePart, form, formType } from '../support/request.ts'

describe('receiveBatch', () => {
  it('ends when the client leaves after its last byte, and before the form has been read to its end', async () => {
    const body = form(filePart('a', 'content'))
    const headers = { 'content-type': formType, 'content-length': `${body.length}` }
    const described = { headers, complete: true }
    const request = Object.assign(new PassThrough(), described) as unknown as IncomingMessage
    const files = receiveBatch(request)[Symbol.asyncIterator]()
    const first = files.next()
    ;(request as unknown as PassThrough).write(body, 'latin1')
    const { value } = (await first) as { value: { readonly content: AsyncIterable<Uint8Array> } }
    expect(await text(value.content)).to.equal('content')
    request.destroy()
    expect(await files.next().catch(String)).to.include('Malformed multipart body')
  })
})
