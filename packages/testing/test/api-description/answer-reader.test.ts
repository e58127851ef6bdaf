import { expect } from 'chai'
import { createAnswerReader } from '../../src/api-description/watch-answers.ts'
import type { AskedRequest, GivenAnswer } from '../../src/api-description/judge.ts'

const get = { method: 'GET', target: '/' }
const head = { method: 'HEAD', target: '/' }

/** What is told of `text` when it comes in pieces of `size` bytes. */
function read(text: string, pending: readonly AskedRequest[], size = Infinity): GivenAnswer[] {
  const answers: GivenAnswer[] = []
  const take = createAnswerReader([...pending], (answer) => answers.push(answer))
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += Math.min(size, bytes.length)) {
    take(bytes.subarray(at, at + size))
  }
  return answers
}

const brief = ({ request, status, body }: GivenAnswer) => [request, status, body?.toString()]

const sized = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'
const chunked =
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n'
const ended = 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello'
const empty = 'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n'
const interim = 'HTTP/1.1 100 Continue\r\n\r\n'

describe('createAnswerReader', () => {
  for (const size of [1, 2, 3, 7, Infinity]) {
    it(`finds answers one behind the other in pieces of ${size} bytes`, () => {
      const text = sized + chunked + sized.slice(0, -5) + empty + interim + chunked
      const answers = read(text, [get, get, head, get, get], size)
      expect(answers.map(brief)).to.deep.equal([
        [get, 200, 'hello'],
        [get, 200, 'hello'],
        [head, 200, ''],
        [get, 304, ''],
        [get, 100, ''],
        [get, 200, 'hello'],
      ])
      expect(answers[3]?.headers).to.deep.equal([['ETag', '"1"']])
    })
  }

  it('takes no request for an answer to none', () => {
    expect(read(sized, []).map(brief)).to.deep.equal([[undefined, 200, 'hello']])
  })

  it('does not wait for the end of a connection, nor keep a large body', () => {
    expect(read(ended, [get]).map(brief)).to.deep.equal([[get, 200, undefined]])
    const large = 1024 * 1024 + 1
    const text = `HTTP/1.1 200 OK\r\nContent-Length: ${large}\r\n\r\n${'x'.repeat(large)}`
    expect(read(text + sized, [get, get], 65_536).map(brief)).to.deep.equal([
      [get, 200, undefined],
      [get, 200, 'hello'],
    ])
  })

  it('reports nothing of an answer that breaks off', () => {
    for (const text of [sized.slice(0, -1), chunked.slice(0, -2), sized.slice(0, 20)]) {
      expect(read(text, [get])).to.deep.equal([])
    }
  })
})
