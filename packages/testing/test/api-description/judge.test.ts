import { expect } from 'chai'
import { createJudge, readDescription, type GivenAnswer } from '../../src/api-description/index.ts'

const judge = createJudge(readDescription())

const id = ['x-request-id', '7'] as const
const stored: GivenAnswer = {
  request: { method: 'PUT', target: '/upload/a.txt' },
  status: 200,
  headers: [
    id,
    ['ETag', '"1"'],
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['Content-Length', '2'],
  ],
  body: Buffer.from('OK'),
}

const json = 'application/json; charset=utf-8'
const error = (statusCode: number, name: string, message: string, target = '/list') => ({
  request: { method: 'GET', target },
  status: statusCode,
  headers: [id, ['Cache-Control', 'no-store'], ['Content-Type', json]] as GivenAnswer['headers'],
  body: Buffer.from(JSON.stringify({ statusCode, error: name, message })),
})
const noFiles = error(400, 'Bad Request', 'No files uploaded yet')

const batch = (...lines: readonly object[]): GivenAnswer => ({
  request: { method: 'POST', target: '/upload/batch' },
  status: 200,
  headers: [id, ['Content-Type', 'application/x-ndjson; charset=utf-8']],
  body: Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join('')),
})

const without = (answer: GivenAnswer, name: string) => ({
  ...answer,
  headers: answer.headers.filter(([each]) => each !== name),
})
const withHeader = (answer: GivenAnswer, name: string, value: string) => ({
  ...answer,
  headers: [...answer.headers, [name, value] as const],
})

describe('createJudge', () => {
  for (const [title, answer] of Object.entries<GivenAnswer>({
    'an answer as it is described': stored,
    'an error': noFiles,
    'another path': error(404, 'Not Found', 'Not Found', '/nowhere'),
    'a path with a query': { ...noFiles, request: { method: 'GET', target: '/list?limit=1' } },
    'a target with a host': { ...noFiles, request: { method: 'GET', target: 'http://a/list' } },
    'a backslash in a target with a host': error(404, 'Not Found', 'Not Found', 'http://a/x\\list'),
    'another method': withHeader(
      {
        ...error(405, 'Method Not Allowed', 'Method not allowed. Use GET, HEAD, OPTIONS'),
        request: { method: 'BREW', target: '/list' },
      },
      'Allow',
      'GET, HEAD, OPTIONS',
    ),
    'an answer to HEAD, which has no body': {
      ...noFiles,
      request: { method: 'HEAD', target: '/list' },
      body: Buffer.alloc(0),
    },
    'an answer to what is no request': {
      ...error(400, 'Bad Request', 'Malformed request'),
      request: undefined,
      headers: [
        ['Content-Type', json],
        ['Cache-Control', 'no-store'],
      ],
    },
    'a body that is not known': { ...stored, body: undefined },
    'a batch of no lines': { ...batch(), request: { method: 'POST', target: '/delete/batch' } },
    'lines of a batch': batch(
      { filename: 'a', statusCode: 200, message: 'OK', etag: '"1"' },
      { statusCode: 400, error: 'Bad Request', message: 'Malformed multipart body' },
    ),
  })) {
    it(`takes ${title}`, () => expect(judge(answer)).to.deep.equal([]))
  }

  for (const [title, answer, problem] of [
    ['a status', { ...stored, status: 201 }, 'status 201 is not described'],
    ['a missing header', without(stored, 'ETag'), 'header etag is missing'],
    ['another header', withHeader(stored, 'Server', 'a'), 'header Server is not described'],
    ['a header twice', withHeader(stored, 'etag', '"1"'), 'a header is there twice'],
    ["a header's value", withHeader(noFiles, 'Content-Length', 'two'), 'header Content-Length'],
    ['a type', withHeader(without(stored, 'Content-Type'), 'Content-Type', 'a/b'), 'type a/b'],
    ['no type', without(stored, 'Content-Type'), 'type undefined is not described'],
    ['a body', { ...stored, body: Buffer.from('ok') }, 'body data must be equal to constant'],
    ['no JSON', { ...noFiles, body: Buffer.from('{') }, 'body: SyntaxError'],
    ['a message', error(400, 'Bad Request', 'File not found'), 'body data/message'],
    ['a field', { ...noFiles, body: Buffer.from('{"statusCode":400}') }, 'body data'],
    ['a 404 where there is an operation', error(404, 'Not Found', 'Not Found'), 'status 404'],
    [
      'a body of HEAD',
      { ...noFiles, request: { method: 'HEAD', target: '/list' } },
      'it has a body',
    ],
    ['a line of a batch', batch({ filename: 'a', statusCode: 200 }), 'body data'],
  ] as const) {
    it(`reports ${title} that the description has not`, () => {
      expect(judge(answer).join()).to.include(problem)
    })
  }

  it('reports what is taken out of the description', () => {
    const { paths, ...rest } = readDescription()
    const others = Object.entries(paths).filter(([path]) => path !== '/list')
    const shorter = createJudge({ ...rest, paths: Object.fromEntries(others) })
    expect(shorter(noFiles).join()).to.include('body data/message')
    expect(shorter(stored)).to.deep.equal([])
  })
})
