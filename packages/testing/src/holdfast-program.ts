import { join } from 'node:path'
import { repository } from './package-folder.ts'

/** The file that is the command `holdfast`, as the packages have it. */
export const packagedProgram = join(repository, 'packages/holdfast/bin/holdfast.js')

/**
 * The file that tests start as `holdfast`: the one that `scripts/test` bundles, since it starts in two thirds of the processor's
 * time, and otherwise the command as the packages have it.
 */
export const holdfastProgram = process.env['HOLDFAST_TEST_PROGRAM'] ?? packagedProgram
