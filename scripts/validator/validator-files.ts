import { join } from 'node:path'
import { customersSchema } from '../../packages/credentials-file/src/customers/customers-schema.ts'
import { namesSchema } from '../../packages/http-koa/src/deletions/names-schema.ts'
import { linkSchema } from '../../packages/http-koa/src/links/link-schema.ts'

const packages = join(import.meta.dirname, '../../packages')

/** Where the validators stand, and the schemas that they judge by. */
export const validatorFiles: readonly { readonly file: string; readonly schema: object }[] = [
  {
    file: join(packages, 'credentials-file/src/customers/customers-validator.ts'),
    schema: customersSchema,
  },
  { file: join(packages, 'http-koa/src/links/link-validator.ts'), schema: linkSchema },
  { file: join(packages, 'http-koa/src/deletions/names-validator.ts'), schema: namesSchema },
]
