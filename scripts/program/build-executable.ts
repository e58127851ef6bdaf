/**
 * Makes the single executable as the file that is named, for this machine or for the architecture that follows, such as `arm64`. Part of
 * scripts/test and scripts/release/run, after the build.
 */
import { join, resolve } from 'node:path'
import { makeExecutable } from './make-executable.ts'
import { nodeBinary } from './node-binary.ts'

const [file, arch = process.arch] = process.argv.slice(2)
if (file === undefined) throw new Error('name the file')
await makeExecutable(join(import.meta.dirname, '../..'), await nodeBinary(arch), resolve(file))
