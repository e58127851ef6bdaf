import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect } from 'chai'
import { checkFormType } from '../../src/uploads/form-syntax.ts'

function requestOf(headers: Readonly<Record<string, string>>): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  request.headers = { ...headers }
  return request
}

const check = (type: string) =>
  checkFormType(requestOf({ 'content-type': type, 'content-length': '10' }))

describe('checkFormType', () => {
  for (const [parameters, boundary] of [
    ['; boundary=x', 'x'],
    [';boundary=x', 'x'],
    ['; Boundary=x', 'x'],
    [' ; boundary="x y"', '"x y"'],
    ['; boundary="x"', 'x'],
    ['; boundary="----=_x"', '"----=_x"'],
    ['; boundary="a\\"\\b\\\\"', '"a\\"b\\\\"'],
    ['; charset=utf-8; boundary=x', 'x'],
    ['; charset="a;boundary=y"; boundary=x', 'x'],
    ['; boundary=x;', 'x'],
    ['; boundary=x ; ', 'x'],
    ['; boundary=x\t;;', 'x'],
    ['; ;; boundary="x y";', '"x y"'],
    ['; boundary=x; boundary=y', 'x'],
    [`; boundary=${'x'.repeat(70)}`, 'x'.repeat(70)],
  ] as const) {
    it(`reads the boundary in Multipart/Form-Data${parameters.slice(0, 40)}`, () => {
      const headers = { 'content-type': `Multipart/Form-Data${parameters}`, 'content-length': '10' }
      const request = requestOf(headers)
      checkFormType(request)
      const written = `multipart/form-data; boundary=${boundary}`
      expect(request.headers['content-type']).to.equal(written)
      checkFormType(request)
      expect(request.headers['content-type'], 'again').to.equal(written)
    })
  }

  for (const value of ['----=_Part_1', 'a/b', 'a b', '"x', 'x"y"', '"x"y']) {
    it(`says that ${value} must be in quotes`, () => {
      expect(() => check(`multipart/form-data; boundary=${value}`))
        .to.throw(/^Malformed multipart body/)
        .with.property('status', 400)
      if (value === '"x"y') return
      expect(() => check(`multipart/form-data; boundary=${value}; x=y`)).to.throw('in quotes')
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
    'multipart/form-data; x; boundary=x',
    'multipart/form-data; x=; boundary=x',
    'multipart/form-data; =y; boundary=x',
    'multipart/form-data; x=y z; boundary=x',
    'multipart/form-data; boundary="x" y=z',
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
