import { Ajv } from 'ajv'
import { expect } from 'chai'
import { customersSchema } from '../../../packages/credentials-file/src/customers/customers-schema.ts'
import { validate as isCustomers } from '../../../packages/credentials-file/src/customers/customers-validator.ts'
import { linkSchema } from '../../../packages/http-koa/src/links/link-schema.ts'
import { validate as isLink } from '../../../packages/http-koa/src/links/link-validator.ts'
import { validatorOptions } from '../render-validator.ts'

const values = [null, true, 0, -1, 1.5, NaN, Infinity, 2 ** 53, '', 'text', '😀', [], {}]

/** Files of one customer and of two, right and wrong in every field. */
function* documents() {
  const right = { name: 'a', password: 'b' }
  yield* [...values, undefined]
  for (const value of values) {
    yield { customers: value }
    yield { customers: [right, value] }
    yield { customers: [], other: value }
    for (const field of ['name', 'password', 'quota', 'maxFiles', 'other', '__proto__']) {
      const wrong = JSON.parse(JSON.stringify({ [field]: value })) as object
      yield { customers: [{ ...right, ...wrong, [field]: value }] }
      yield { customers: [{ [field]: value }, { [field]: value }], [field]: value }
    }
  }
}

/** Bodies of a request for a link, right and wrong in every field. */
function* linkBodies() {
  yield* [...values, undefined]
  const fields = [...Object.keys(linkSchema.properties), 'other', '__proto__']
  for (const field of fields) {
    for (const value of [...values, 1, 10_000, 10_001, 'upload', 'download']) {
      yield Object.fromEntries([[field, value]])
      yield Object.fromEntries([
        ['verb', 'upload'],
        [field, value],
        ['inline', value],
      ])
    }
  }
}

const cases = [
  ['customers files', customersSchema, isCustomers, documents],
  ['links', linkSchema, isLink, linkBodies],
] as const

describe('renderValidator', () => {
  for (const [what, schema, validate, bodies] of cases) {
    it(`makes what finds the same wrong in ${what} as ajv does`, () => {
      const judge = new Ajv(validatorOptions).compile(schema)
      let accepted = 0
      for (const body of bodies()) {
        const isRight = judge(body)
        if (isRight) accepted++
        expect(validate(body)).to.equal(isRight)
        expect(validate.errors).to.deep.equal(judge.errors)
      }
      expect(accepted).to.be.above(10)
    })
  }
})
