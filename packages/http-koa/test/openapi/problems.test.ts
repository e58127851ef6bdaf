import { readDescription } from '@holdfast/testing/api-description'
import { FileServiceError, type ErrorCode } from '@holdfast/core'
import { tusProblems, type HttpProblem } from '@holdfast/resumable'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { errorBody, problems, toProblem } from '../../src/http/problems.ts'

/** Every code of the core. With one missing, `tsc -p tsconfig.test.json` fails; mocha checks no types. */
const messages = {
  'missing-credentials': '',
  'invalid-credentials': '',
  'too-many-attempts': '',
  'link-refused': '',
  'invalid-file-name': 'Invalid filename: it is empty',
  'not-allowed': 'Not allowed: missing rights read, delete',
  'not-found': '',
  'version-not-found': '',
  'already-exists': '',
  'file-too-large': '',
  'quota-exceeded': 'Quota exceeded: 2 of 2 files are stored or being stored',
  'digest-mismatch': '',
  'upload-not-found': '',
  'upload-conflict': '',
  'insufficient-storage': '',
  'store-unavailable': '',
  overloaded: '',
} satisfies Record<ErrorCode, string>

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
  malformedMultipart: [
    problems.malformedMultipart(),
    problems.malformedMultipart('Content-Transfer-Encoding must be binary, 8bit or 7bit'),
    problems.malformedMultipart('the boundary in the content type must be in quotes'),
  ],
  truncatedBody: [problems.truncatedBody()],
  discarded: [problems.discarded()],
  noFilename: ['serve', 'delete', 'rename', 'versions', 'restore', 'upload'].map(
    problems.noFilename,
  ),
  invalidFilename: [problems.invalidFilename('it is not percent-encoded UTF-8')],
  unknownFile: [problems.unknownFile()],
  noFilesYet: [problems.noFilesYet()],
  invalidQuery: [problems.invalidQuery('after', 'it is sent twice')],
  invalidField: [problems.invalidField('sha256', 'it must be sent once, as 64 hexadecimal digits')],
  invalidHeader: [problems.invalidHeader('if-none-match', 'uploads support only "*"')],
  tooManyParts: [problems.tooManyParts(1000)],
  tooManyFiles: [problems.tooManyFiles(10_000)],
  tooManyFields: [problems.tooManyFields(100)],
  fieldTooLarge: [problems.fieldTooLarge(65_536)],
  tooManyNames: [problems.tooManyNames(10_000)],
  bodyTooLarge: [problems.bodyTooLarge(4 * 1024 ** 2)],
  preconditionFailed: [problems.preconditionFailed()],
  rangeNotSatisfiable: [problems.rangeNotSatisfiable(1)],
  notFound: [problems.notFound()],
  slashInName: [problems.slashInName()],
  methodNotAllowed: [problems.methodNotAllowed('GET, HEAD, OPTIONS')],
} satisfies Record<keyof typeof problems, readonly HttpProblem[]>

/** The same of tus. */
const ofTus = {
  unknownVersion: [tusProblems.unknownVersion()],
  unknownContentType: [tusProblems.unknownContentType()],
  checksumMismatch: [tusProblems.checksumMismatch()],
  noFileName: [tusProblems.noFileName()],
  invalidField: [
    tusProblems.invalidField('sha256', 'it must be sent once, as 64 hexadecimal digits'),
  ],
  invalidHeader: [
    ['upload-length', 'it is missing, and so is upload-defer-length'],
    ['upload-length', 'it must be a whole number'],
    ['upload-length', 'the upload has another length'],
    ['upload-defer-length', 'it must be 1'],
    ['upload-defer-length', 'upload-length was sent, too'],
    ['upload-offset', 'it is missing'],
    ['upload-offset', 'it must be a whole number'],
    ['upload-metadata', 'it is longer than 4096 bytes'],
    ['upload-metadata', 'a key is empty'],
    ['upload-metadata', 'a key occurs twice'],
    ['upload-metadata', 'a value is not Base64'],
    ['upload-metadata', 'a value is not UTF-8'],
    ['upload-checksum', 'the algorithm must be one of sha256, sha1'],
    ['upload-checksum', 'the checksum must be in Base64'],
    ['upload-checksum', 'it must come before the body'],
    ['upload-concat', 'uploads cannot be joined'],
  ].map(([header = '', reason = '']) => tusProblems.invalidHeader(header, reason)),
  methodNotAllowed: [tusProblems.methodNotAllowed('POST, OPTIONS')],
} satisfies Record<keyof typeof tusProblems, readonly HttpProblem[]>

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
  ...Object.values(ofTus).flat(),
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
