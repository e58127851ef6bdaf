/** Writes what judges customers files and the requests for links, from their schemas. */
import { writeFile } from 'node:fs/promises'
import { renderValidator } from './validator/render-validator.ts'
import { validatorFiles } from './validator/validator-files.ts'

for (const { file, schema } of validatorFiles) await writeFile(file, renderValidator(schema))
