/** The data of a customers file as it is written, before names, hashes and sizes are checked. */
export interface CustomersData {
  readonly customers: readonly CustomerData[]
}

export interface CustomerData {
  readonly name: string
  readonly password: string
  readonly quota?: number | string
  readonly maxFiles?: number
  readonly expireAfter?: string
  readonly keepReplaced?: string
  readonly webhook?: string
  readonly webhookSecret?: string
  readonly may?: string | readonly string[]
  readonly logins?: readonly LoginData[]
}

/** A further login of a customer. */
export interface LoginData {
  readonly name: string
  readonly password: string
  readonly may?: string | readonly string[]
  readonly until?: string
}

/** The fields of a customer. */
export const customerFields = [
  'name',
  'password',
  'quota',
  'maxFiles',
  'expireAfter',
  'keepReplaced',
  'webhook',
  'webhookSecret',
  'may',
  'logins',
] as const

/** The fields of a login. */
export const loginFields = ['name', 'password', 'may', 'until'] as const

/** What customers and their further logins have. */
const login = {
  name: { type: 'string' },
  password: { type: 'string', minLength: 1 },
  may: { type: ['string', 'array'], items: { type: 'string' } },
} as const

/** The JSON Schema of a customers file. The build makes customers-validator.ts of it. */
export const customersSchema = {
  type: 'object',
  required: ['customers'],
  additionalProperties: false,
  properties: {
    customers: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'password'],
        dependencies: { webhook: ['webhookSecret'], webhookSecret: ['webhook'] },
        additionalProperties: false,
        properties: {
          ...login,
          quota: { type: ['integer', 'string'], minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
          expireAfter: { type: 'string' },
          keepReplaced: { type: 'string' },
          webhook: { type: 'string' },
          webhookSecret: { type: 'string' },
          maxFiles: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
          logins: {
            type: 'array',
            items: {
              type: 'object',
              required: ['name', 'password'],
              additionalProperties: false,
              properties: { ...login, until: { type: 'string' } },
            },
          },
        },
      },
    },
  },
} as const
