/** Bundles the command into the folder that is named, which it replaces. Part of scripts/test, after the build. */
import { join, resolve } from 'node:path'
import { bundleProgram } from './bundle-program.ts'

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('name the folder')
await bundleProgram(join(import.meta.dirname, '../..'), resolve(folder))
