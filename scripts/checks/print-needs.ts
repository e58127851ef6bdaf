/** Prints, with blanks around and between, what the tests need that scripts/test runs with these arguments. */
import { join } from 'node:path'
import { testNeeds } from './test-needs.ts'

const root = join(import.meta.dirname, '../..')
console.log(` ${testNeeds(root, process.argv.slice(2)).join(' ')} `)
