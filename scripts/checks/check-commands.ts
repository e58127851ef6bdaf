import type { JobKind } from './job-kind.ts'

/** A program of node_modules/.bin with its arguments, and what it checks. */
export interface CheckCommand {
  readonly title: string
  readonly kind: JobKind
  readonly command: readonly string[]
}

const cache = 'node_modules/.cache/holdfast'

/**
 * The checks beside the tests. Linter, formatter and the types of the tests look at the `named` folders and files, or at
 * everything if none is named. The other checks compare packages with each other.
 */
export function checkCommands(named: readonly string[]): readonly CheckCommand[] {
  const places = named.length > 0 ? ['--no-error-on-unmatched-pattern', ...named] : ['.']
  return [
    { title: 'lint', kind: 'lint and format', command: ['oxlint', ...places] },
    {
      title: 'types of the tests',
      kind: 'build and types',
      command: ['tsc', '-p', ...typesOfTests(named)],
    },
    {
      title: 'types of the page of the tests',
      kind: 'build and types',
      command: ['tsc', '-p', 'packages/system-tests/test/tus-clients/page'],
    },
    {
      title: 'format',
      kind: 'lint and format',
      command: ['oxfmt', '--check', ...places],
    },
    {
      title: 'unused code and dependencies',
      kind: 'lint and format',
      command: ['knip', '--no-config-hints'],
    },
    {
      title: 'who imports whom',
      kind: 'lint and format',
      command: ['depcruise', '--config', '.dependency-cruiser.mjs', 'packages', 'scripts'],
    },
    {
      title: 'manifests and the picture of the architecture',
      kind: 'lint and format',
      command: ['node', 'scripts/check-boundaries.ts'],
    },
    {
      title: 'links in the documentation',
      kind: 'lint and format',
      command: ['node', 'scripts/check-docs.ts'],
    },
  ]
}

/** The project of the only package that is `named`, or that of all tests, which takes ten times as long. */
function typesOfTests(named: readonly string[]): readonly string[] {
  const [project, ...others] = new Set(named.map(projectOf))
  if (project !== undefined && others.length === 0) return [project]
  return [
    'tsconfig.test.json',
    ...['--incremental', '--tsBuildInfoFile', `${cache}/tests.tsbuildinfo`],
  ]
}

/** The folder of the `tsconfig.json` that has the tests of a folder or file; `undefined` where none has them all. */
function projectOf(path: string): string | undefined {
  const [folder] = /^packages\/[^/]+/.exec(path) ?? []
  if (folder !== undefined) return `${folder}/test`
  return /^scripts\b/.test(path) ? 'scripts' : undefined
}
