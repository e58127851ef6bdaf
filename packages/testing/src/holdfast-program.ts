import { fileURLToPath } from 'node:url'

/** The file that is the command `holdfast`, as the packages have it. */
export const packagedProgram = fileURLToPath(
  new URL('../../holdfast/bin/holdfast.js', import.meta.url),
)

/**
 * The file that tests start as `holdfast`: the one that `scripts/test` bundles, since it starts in two thirds of the processor's
 * time, and otherwise the command as the packages have it.
 */
export const holdfastProgram = process.env['HOLDFAST_TEST_PROGRAM'] ?? packagedProgram
