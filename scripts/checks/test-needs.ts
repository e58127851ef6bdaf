import { moduleGraph } from './module-graph.ts'

/** What tests may need of the machine, by the module that uses it: a path, or the beginning of one, or a package. */
const users = {
  containers: ['packages/testing/src/minio/', '@holdfast/testing/minio'],
  s3servers: ['packages/testing/src/s3-servers.ts', '@holdfast/testing/s3-servers'],
  images: ['packages/system-tests/test/containers/support/product-image.ts'],
  tarballs: ['scripts/release/test/packed-packages.ts'],
  installation: ['scripts/release/test/shared-installation.ts'],
  executable: ['scripts/program/test/executable-file.ts'],
  arm: ['scripts/program/test/arm-program.ts'],
  git: ['scripts/release/test/repository-copy.ts'],
  debian: ['scripts/release/make-debian-package.ts', 'scripts/release/test/repository-copy.ts'],
  proxies: ['packages/system-tests/test/cluster/support/start-proxy.ts'],
  browsers: ['packages/testing/src/browsers.ts', '@holdfast/testing/browsers'],
  webkit: ['packages/web/test/browser/webkit-driver.ts'],
  prometheus: ['packages/testing/src/prometheus/', '@holdfast/testing/prometheus'],
  redis: [
    'packages/testing/src/redis/',
    '@holdfast/testing/redis',
    'packages/system-tests/test/containers/compose.test.ts',
  ],
  python: ['packages/system-tests/test/openapi/python-environment.ts'],
  go: ['packages/system-tests/test/tus-clients/support/go-client.ts'],
  java: ['packages/system-tests/test/openapi/clients/client-project.ts'],
  mandoc: ['scripts/manual/test/man-page.test.ts'],
  rsync: ['packages/system-tests/test/docs/backup.external.test.ts'],
  postgres: ['scripts/examples/test/start-postgres.ts'],
  powercuts: ['packages/system-tests/test/power-cut/start-power-cuts.ts'],
  btrfs: ['packages/store-disk/test/mounted-disk.ts'],
  systemd: [
    'packages/system-tests/test/docs/analyze-unit.ts',
    'scripts/release/test/run-on-copy-of-machine.ts',
  ],
} as const

export type TestNeed = keyof typeof users

const allNeeds = Object.keys(users) as TestNeed[]

/** What `files` need: a test file imports a module that uses it, or a file beside it that does, and so on. */
export function testNeeds(root: string, files: readonly string[]): readonly TestNeed[] {
  const needs = needsByFile(root, files)
  const all = [...needs.values()].flat()
  return allNeeds.filter((need) => all.includes(need))
}

/** The same for each of `files`. */
export function needsByFile(
  root: string,
  files: readonly string[],
): ReadonlyMap<string, readonly TestNeed[]> {
  const reach = moduleGraph(root)
  return new Map(files.map((file) => [file, needsOf(reach(file))]))
}

function needsOf(modules: ReadonlySet<string>): readonly TestNeed[] {
  const isUsed = (user: string) =>
    user.endsWith('/') ? [...modules].some((module) => module.startsWith(user)) : modules.has(user)
  return allNeeds.filter((need) => users[need].some(isUsed))
}
