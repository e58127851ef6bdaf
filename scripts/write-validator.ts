/** Writes what judges customers files, from the schema of a customers file. */
import { writeFile } from 'node:fs/promises'
import { customersSchema } from '../packages/credentials-file/src/customers/customers-schema.ts'
import { renderValidator } from './validator/render-validator.ts'
import { validatorFile } from './validator/validator-file.ts'

await writeFile(validatorFile, renderValidator(customersSchema))
