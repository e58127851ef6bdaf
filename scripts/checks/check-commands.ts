import type { JobKind } from './job-kind.ts'

/** A program of node_modules/.bin with its arguments, and what it checks. */
export interface CheckCommand {
  readonly title: string
  readonly kind: JobKind
  readonly command: readonly string[]
}

const cache = 'node_modules/.cache/holdfast'
const byContent = (name: string) => [
  '--cache',
  '--cache-strategy',
  'content',
  '--cache-location',
  `${cache}/${name}`,
]

/**
 * The checks beside the tests. Linter and formatter look at the `named` folders and files, or at everything if none is named:
 * they take minutes for the whole repository. The other checks compare packages with each other, and are quick.
 */
export function checkCommands(named: readonly string[]): readonly CheckCommand[] {
  const places = named.length > 0 ? ['--no-error-on-unmatched-pattern', ...named] : ['.']
  const types = ['--incremental', '--tsBuildInfoFile', `${cache}/tests.tsbuildinfo`]
  return [
    { title: 'lint', kind: 'lint and format', command: ['oxlint', ...places] },
    {
      title: 'types of the tests',
      kind: 'build and types',
      command: ['tsc', '-p', 'tsconfig.test.json', ...types],
    },
    {
      title: 'types of the page of the tests',
      kind: 'build and types',
      command: ['tsc', '-p', 'packages/system-tests/test/tus-clients/page'],
    },
    {
      title: 'format',
      kind: 'lint and format',
      command: ['prettier', '--check', '--log-level', 'warn', ...byContent('format'), ...places],
    },
    {
      title: 'unused code and dependencies',
      kind: 'lint and format',
      command: ['knip', '--no-config-hints'],
    },
    {
      title: 'package boundaries',
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
