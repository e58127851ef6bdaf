import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { operationsOf, readDescription, type Response } from '../../src/api-description/index.ts'

const text = readFileSync(new URL('../../../../docs/openapi.yaml', import.meta.url), 'utf8')
const description = readDescription()
const operations = operationsOf(description)
const beyond = description['x-beyond-operations']

const responses: readonly (readonly [title: string, status: string, response: Response])[] = [
  ...operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses).map(
      ([status, response]) => [`${status} of ${operationId}`, status, response] as const,
    ),
  ),
  ...Object.entries({ ...beyond.connection, 404: beyond.otherPath }).map(
    ([status, response]) => [`${status} beyond operations`, status, response] as const,
  ),
]

describe('docs/openapi.yaml', () => {
  it('is OpenAPI 3.1', async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate(text)
    expect(valid, JSON.stringify(errors)).to.equal(true)
    expect(validator.version).to.equal('3.1')
  })

  it('would not be with a response that has no description', async () => {
    const { valid } = await new Validator().validate(text.replace('description: It is.', 'x-a: 1'))
    expect(valid).to.equal(false)
  })

  it('has an id and a summary for each operation, each id once', () => {
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).to.equal(ids.length)
    expect(ids.length).to.be.at.least(30)
    for (const operation of operations) expect(operation, operation.path).to.include.keys('summary')
  })

  it('refers to every component there is', () => {
    const names = [...text.matchAll(/^ {4}([\w-]+):/gm)].map(([, name = '']) => name)
    const { components } = description
    for (const [kind, members] of Object.entries(components)) {
      if (kind === 'securitySchemes') continue
      for (const name of Object.keys(members)) {
        expect(names).to.include(name)
        // The file goes on with a form that breaks off on the way, in the lines of a batch.
        if (name === 'too-many-files') continue
        expect(text, name).to.match(new RegExp(`/${kind}/${name}'`))
      }
    }
  })

  const ajv = new Ajv2020({ strict: false })

  for (const [title, status, { content = {} }] of responses) {
    const {
      schema = true,
      example,
      examples = {},
    } = content['application/json; charset=utf-8'] ?? {}
    if (Number(status) >= 400) {
      it(`has errors of that status only for ${title}`, () => {
        const other = { statusCode: 499, error: 'Teapot', message: 'No auth headers' }
        expect(ajv.validate(schema, other)).to.equal(false)
        const statuses = JSON.stringify(schema).match(
          /"statusCode":\{"type":"integer","const":\d+\}/g,
        )
        expect(new Set(statuses)).to.deep.equal(
          new Set([`"statusCode":{"type":"integer","const":${status}}`]),
        )
      })
    }
    for (const value of [example, ...Object.values(examples).map((each) => each.value)]) {
      if (value === undefined) continue
      it(`has a true example for ${title}: ${JSON.stringify(value)}`, () => {
        expect(ajv.validate(schema, value), ajv.errorsText()).to.equal(true)
      })
    }
  }
})
