import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

const here = import.meta.dirname
const read = (path: string) => readFileSync(join(here, path), 'utf8')

/** The generators in the table of the client, each with its version. */
function documented(): Readonly<Record<string, string>> {
  const [, section = ''] = read('../../../../client/README.md').split('\n## Generated clients\n')
  const rows = [...section.matchAll(/^\| (`.*?) +\| ([\d., ]+?) +\|/gm)]
  return Object.fromEntries(
    rows.flatMap(([, generators = '', versions = '']) => {
      const names = [...generators.matchAll(/`(.*?)`/g)].map(([, name = '']) => name)
      return versions.split(', ').map((version, index) => [names[index] ?? '', version] as const)
    }),
  )
}

/** The version of each package that the tests install. */
function installed(): Readonly<Record<string, string>> {
  const { dependencies } = JSON.parse(read('project/package.json')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  const pinned = [...read('project/requirements.txt').matchAll(/^([\w.-]+)==(.+)$/gm)]
  return {
    ...dependencies,
    ...Object.fromEntries(pinned.map(([, name = '', version = '']) => [name, version] as const)),
  }
}

describe('docs/api.md', () => {
  it('names the generators of clients in the versions that the tests use', () => {
    const table = documented()
    expect(Object.keys(table)).to.have.members([
      ...['openapi-typescript', 'openapi-fetch', '@hey-api/openapi-ts', 'orval'],
      ...['openapi-python-client', 'openapi-generator-cli'],
    ])
    expect(installed()).to.include(table)
  })
})
