import { Ajv, type ErrorObject } from 'ajv'

/** The data of a customers file as it is written, before names, hashes and sizes have been judged. */
export interface CustomersData {
  readonly customers: readonly CustomerData[]
}

export interface CustomerData {
  readonly name: string
  readonly password: string
  readonly quota?: number | string
  readonly maxFiles?: number
}

/** The fields of a customer. */
export const customerFields = ['name', 'password', 'quota', 'maxFiles'] as const

const schema = {
  type: 'object',
  required: ['customers'],
  additionalProperties: false,
  properties: {
    customers: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'password'],
        additionalProperties: false,
        properties: {
          name: { type: 'string' },
          password: { type: 'string', minLength: 1 },
          quota: { type: ['integer', 'string'], minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
          maxFiles: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
        },
      },
    },
  },
}

const ajv = new Ajv({
  strict: true,
  allErrors: true,
  allowUnionTypes: true,
  verbose: true,
  // To judge this schema anew at each start, its own schema would have to be compiled, for twice the time of this one.
  meta: false,
  validateSchema: false,
})
const isCustomersData = ajv.compile<CustomersData>(schema)

/** Judges the shape of `data`: the data typed, or what is wrong with it. */
export function checkShape(
  data: unknown,
): { readonly data: CustomersData } | { readonly errors: readonly ErrorObject[] } {
  return isCustomersData(data) ? { data } : { errors: isCustomersData.errors ?? [] }
}
