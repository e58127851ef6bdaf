import { join } from 'node:path'

/** Where the validator of customers files stands. */
export const validatorFile = join(
  import.meta.dirname,
  '../../packages/credentials-file/src/customers/customers-validator.ts',
)
