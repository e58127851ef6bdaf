import { readFile, writeFile } from 'node:fs/promises'
import { customersSchema } from '../../packages/credentials-file/src/customers/customers-schema.ts'
import { linkSchema } from '../../packages/http-koa/src/links/link-schema.ts'
import { renderValidator } from './render-validator.ts'

/** The validators, each in the sources beside its schema. */
const validators = [
  {
    path: 'packages/credentials-file/src/customers/customers-validator.ts',
    schema: customersSchema,
  },
  { path: 'packages/http-koa/src/links/link-validator.ts', schema: linkSchema },
]

/** Writes the validators of the repository in the working directory. A file that would stay the same is not touched. */
export async function writeValidators(): Promise<void> {
  for (const { path, schema } of validators) {
    const text = renderValidator(schema)
    const old = await readFile(path, 'utf8').catch(() => undefined)
    if (old !== text) await writeFile(path, text)
  }
}
