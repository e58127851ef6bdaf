import { Ajv } from 'ajv'
import { expect } from 'chai'
import { customersSchema } from '../../../packages/credentials-file/src/customers/customers-schema.ts'
import { validate } from '../../../packages/credentials-file/src/customers/customers-validator.ts'
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

describe('renderValidator', () => {
  it('makes what finds the same wrong as ajv does', () => {
    const judge = new Ajv(validatorOptions).compile(customersSchema)
    let accepted = 0
    for (const document of documents()) {
      const isRight = judge(document)
      if (isRight) accepted++
      expect(validate(document)).to.equal(isRight)
      expect(validate.errors).to.deep.equal(judge.errors)
    }
    expect(accepted).to.be.above(10)
  })
})
