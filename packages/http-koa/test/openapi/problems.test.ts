import { readDescription } from '@holdfast/api-description'
import { FileServiceError, type ErrorCode } from '@holdfast/core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import type { HttpProblem } from '../../src/errors/problem.ts'
import { errorBody, problems } from '../../src/errors/problem.ts'
import { toProblem } from '../../src/errors/status.ts'

/**
 * Every code of the core that a described route can answer. With a code missing, `tsc -p tsconfig.test.json` fails; mocha
 * checks no types.
 */
const messages = {
  'missing-credentials': '',
  'invalid-credentials': '',
  'too-many-attempts': '',
  'invalid-file-name': 'Invalid filename: it is empty',
  'not-found': '',
  'already-exists': '',
  'file-too-large': '',
  'quota-exceeded': '',
  'digest-mismatch': '',
  'insufficient-storage': '',
  'store-unavailable': '',
  overloaded: '',
} satisfies Record<Exclude<ErrorCode, `upload-${string}`>, string>

/** Every problem of HTTP with its message. With one missing, `tsc -p tsconfig.test.json` fails. */
const told = {
  malformedRequest: [problems.malformedRequest()],
  oneHost: [problems.oneHost()],
  invalidHost: [problems.invalidHost()],
  fragmentInTarget: [problems.fragmentInTarget()],
  unknownTransferCoding: [problems.unknownTransferCoding()],
  unknownVersion: [problems.unknownVersion()],
  noFile: [problems.noFile()],
  moreThanOneFile: [problems.moreThanOneFile()],
  malformedMultipart: [problems.malformedMultipart()],
  truncatedBody: [problems.truncatedBody()],
  discarded: [problems.discarded()],
  noFilename: ['serve', 'delete', 'upload'].map(problems.noFilename),
  invalidFilename: [problems.invalidFilename('it is not percent-encoded UTF-8')],
  noFilesYet: [problems.noFilesYet()],
  invalidQuery: [problems.invalidQuery('after', 'it is sent twice')],
  invalidField: [problems.invalidField('sha256', 'it must be 64 hexadecimal digits, once')],
  invalidHeader: [problems.invalidHeader('if-none-match', 'an upload knows only "*"')],
  tooManyParts: [problems.tooManyParts(1000)],
  tooManyFiles: [problems.tooManyFiles(10_000)],
  tooManyFields: [problems.tooManyFields(100)],
  fieldTooLarge: [problems.fieldTooLarge(65_536)],
  preconditionFailed: [problems.preconditionFailed()],
  rangeNotSatisfiable: [problems.rangeNotSatisfiable(1)],
  notFound: [problems.notFound()],
  slashInName: [problems.slashInName()],
  methodNotAllowed: [problems.methodNotAllowed('GET, HEAD, OPTIONS')],
} satisfies Record<keyof typeof problems, readonly HttpProblem[]>

/** What the server says of connections, before there is a code; its tests meet each of them. */
const ofConnections = [
  'needs-tls',
  'too-slow',
  'chunk-extensions-too-large',
  'unknown-expectation',
  'headers-too-large',
]

const all = [
  ...Object.entries(messages).map(([code, message]) =>
    toProblem(new FileServiceError(code as ErrorCode, message)),
  ),
  ...Object.values(told).flat(),
  toProblem(new Error('a fault')),
]

describe('docs/openapi.yaml', () => {
  const { schemas } = readDescription().components
  const ajv = new Ajv2020({ strict: false })

  for (const { code, status, message } of all) {
    it(`has ${code} with its message: ${message}`, () => {
      const schema = schemas[code]
      if (schema === undefined) throw new Error(`docs/openapi.yaml has no schema called ${code}`)
      expect(ajv.validate(schema, errorBody(status, message)), ajv.errorsText()).to.equal(true)
    })
  }

  it('has no other error', () => {
    const errors = Object.keys(schemas).filter((name) => /^[a-z]/.test(name))
    expect(errors).to.have.members([...new Set(all.map(({ code }) => code)), ...ofConnections])
  })
})
