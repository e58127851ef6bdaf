import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect } from 'chai'
import { checkFormType } from '../../../src/multipart/syntax/form-type.ts'

function requestOf(headers: Readonly<Record<string, string>>): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  request.headers = { ...headers }
  return request
}

const check = (type: string) =>
  checkFormType(requestOf({ 'content-type': type, 'content-length': '10' }))

describe('checkFormType', () => {
  for (const type of [
    'multipart/form-data; boundary=x',
    'multipart/form-data;boundary=x',
    'Multipart/Form-Data; Boundary=x',
    'multipart/form-data ; boundary="x y"',
    'multipart/form-data; charset=utf-8; boundary=x',
    `multipart/form-data; boundary=${'x'.repeat(70)}`,
  ]) {
    it(`takes ${type.slice(0, 50)}`, () => {
      check(type)
    })
  }

  for (const type of [
    '',
    'text/plain',
    'multipart/mixed; boundary=x',
    'multipart/form-datax; boundary=x',
    'xmultipart/form-data; boundary=x',
  ]) {
    it(`sees no file in ${JSON.stringify(type)}`, () => {
      expect(() => check(type))
        .to.throw('No file')
        .with.property('status', 400)
    })
  }

  for (const type of [
    'multipart/form-data',
    'multipart/form-data;',
    'multipart/form-data; boundary',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    'multipart/form-data; xboundary=x',
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
    `multipart/form-data; boundary="${'x'.repeat(71)}"`,
  ]) {
    it(`sees a malformed body behind ${type.slice(0, 50)}`, () => {
      expect(() => check(type))
        .to.throw('Malformed multipart body')
        .with.property('status', 400)
    })
  }

  it('sees no file where there is no body', () => {
    const type = { 'content-type': 'multipart/form-data; boundary=x' }
    expect(() => checkFormType(requestOf(type))).to.throw('No file')
    expect(() => checkFormType(requestOf({ ...type, 'content-length': '0' }))).to.throw('No file')
    checkFormType(requestOf({ ...type, 'transfer-encoding': 'chunked' }))
  })
})
