/** Prints, with blanks around and between, what the tests need that scripts/test runs with these arguments. */
import { join } from 'node:path'
import { chooseTests } from './choose-tests.ts'
import { parseArguments } from './parse-arguments.ts'
import { testNeeds } from './test-needs.ts'

const root = join(import.meta.dirname, '../..')
const { files } = chooseTests(root, parseArguments(process.argv.slice(2)))
console.log(` ${testNeeds(root, files).join(' ')} `)
