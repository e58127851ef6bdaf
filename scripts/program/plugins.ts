import type { Plugin } from 'esbuild'
import { bundlesRequired } from './bundles-required.ts'
import { measuresLate } from './measures-late.ts'

/** What is done with the modules of the program, whatever they are bundled into. */
export const plugins: readonly Plugin[] = [bundlesRequired, measuresLate]
