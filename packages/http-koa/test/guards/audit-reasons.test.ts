import { readFileSync } from 'node:fs'
import { errorCodes } from '@holdfast/core'
import { tusProblems, type HttpProblem } from '@holdfast/resumable'
import { expect } from 'chai'
import { problems } from '../../src/http/problems.ts'

/** Said by requests that change nothing. */
const unaudited = [
  'malformed-request',
  'unknown-transfer-coding',
  'unknown-http-version',
  'no-files-yet',
  'invalid-query',
  'unknown-file',
  'precondition-failed',
  'range-not-satisfiable',
  'unknown-path',
  'method-not-allowed',
]

const httpCodes = [...Object.values(problems), ...Object.values(tusProblems)]
  .map((make: (...details: never[]) => HttpProblem) => make().code)
  .filter((code) => !unaudited.includes(code))

describe('The reasons in docs/audit.md', () => {
  const markdown = readFileSync(new URL('../../../../docs/audit.md', import.meta.url), 'utf8')
  const rows = markdown.slice(markdown.indexOf('## Reasons'), markdown.indexOf('## Rotation'))
  const documented = [...rows.matchAll(/^\| (`[^|]+)\|/gm)]
    .flatMap(([, cell = '']) => cell.match(/`[^`]+`/g) ?? [])
    .map((code) => code.slice(1, -1))
    .filter((code) => code !== 'reason')

  it('are all that there can be, each once', () => {
    const codes = new Set([...errorCodes, ...httpCodes, 'unexpected'])
    expect([...documented].sort()).to.deep.equal([...codes].sort())
  })
})
