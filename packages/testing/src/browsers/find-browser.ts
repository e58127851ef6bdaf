import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { BrowserName } from './browser-names.ts'

interface Candidates {
  /** The variable of the environment that names the program. */
  readonly variable: string
  /** What is looked for in `PATH`, in this order. `scripts/programs.sh` looks for the same. */
  readonly programs: readonly string[]
  readonly debianPackage: string
}

const candidates: Readonly<Record<BrowserName, Candidates>> = {
  chromium: {
    variable: 'HOLDFAST_BROWSER',
    programs: ['chromium', 'chromium-browser', 'google-chrome'],
    debianPackage: 'chromium',
  },
  firefox: {
    variable: 'HOLDFAST_FIREFOX',
    programs: ['firefox-esr', 'firefox'],
    debianPackage: 'firefox-esr',
  },
}

/**
 * The path of a browser's program: what `HOLDFAST_BROWSER` (Chromium) or `HOLDFAST_FIREFOX` names, or the first that is
 * found in `PATH`.
 *
 * @throws Error that names the remedy if there is none
 */
export function findBrowser(name: BrowserName, env: NodeJS.ProcessEnv = process.env): string {
  const { variable, programs, debianPackage } = candidates[name]
  const folders = (env['PATH'] ?? '').split(delimiter)
  const found = programs
    .flatMap((program) => folders.map((folder) => join(folder, program)))
    .find((path) => existsSync(path))
  const program = env[variable] || found
  if (program === undefined) {
    throw new Error(
      `This test needs ${programs.join(' or ')} in PATH, or ${variable}=PATH (Debian: apt-get install ${debianPackage})`,
    )
  }
  return program
}
