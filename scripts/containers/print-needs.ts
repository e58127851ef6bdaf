/** Prints `yes` if the tests that scripts/test runs with these arguments need containers, and else `no`. */
import { join } from 'node:path'
import { needsContainers } from './needs-containers.ts'

const root = join(import.meta.dirname, '../..')
console.log(needsContainers(root, process.argv.slice(2)) ? 'yes' : 'no')
