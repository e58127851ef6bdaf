import { join } from 'node:path'
import { expect } from 'chai'
import { manifestProblems } from '../manifest-problems.ts'
import {
  packageFiles,
  rootReferences,
  withRepository,
  type PackageDraft,
} from './fixture-repository.ts'

const core = packageFiles('core', { source: "import './model/name.ts'" })

async function problemsWith(name: string, draft: PackageDraft): Promise<string[]> {
  const files = { ...core, ...packageFiles(name, draft), ...rootReferences('core', name) }
  return withRepository(files, manifestProblems)
}

describe('manifestProblems', () => {
  it('finds none in this repository', async () => {
    expect(await manifestProblems(join(import.meta.dirname, '../../..'))).to.deep.equal([])
  })

  it('finds none where packages know only what they may', async () => {
    const draft = {
      dependencies: ['core'],
      devDependencies: ['contract'],
      source:
        "import { readFile } from 'node:fs/promises'\nimport type { A } from '@holdfast/core'",
    }
    expect(await problemsWith('store-disk', draft)).to.deep.equal([])
  })

  it('names an adapter that depends on another', async () => {
    const draft = { dependencies: ['core', 'store-disk'] }
    expect(await problemsWith('http-koa', draft)).to.deep.equal([
      'http-koa may not depend on store-disk',
    ])
  })

  it('names a package whose tests depend on what even they may not know', async () => {
    const draft = { dependencies: ['core'], devDependencies: ['server'] }
    expect(await problemsWith('store-disk', draft)).to.deep.equal([
      'store-disk may not depend on server, not even in tests',
    ])
  })

  it('lets only tests know the contract', async () => {
    const draft = { dependencies: ['core', 'contract'] }
    expect(await problemsWith('store-disk', draft)).to.deep.equal([
      'store-disk may not depend on contract',
    ])
  })

  it('names a dependency that the tsconfig.json does not repeat', async () => {
    expect(
      await problemsWith('store-disk', { dependencies: ['core'], references: [] }),
    ).to.deep.equal(['store-disk depends on core, but its tsconfig.json does not refer to it'])
  })

  it('names a reference that is no dependency', async () => {
    const draft = { dependencies: ['core'], references: ['core', 'http-koa'] }
    expect(await problemsWith('store-disk', draft)).to.deep.equal([
      'store-disk refers to http-koa in its tsconfig.json, but does not depend on it',
    ])
  })

  it('names a package that is not placed in the architecture', async () => {
    expect(await problemsWith('store-tape', {})).to.deep.equal([
      'store-tape has no line in scripts/boundaries/allowed-edges.ts',
    ])
  })

  it('names a package that the root build leaves out', async () => {
    expect(await withRepository({ ...core, ...rootReferences() }, manifestProblems)).to.deep.equal([
      'the root tsconfig.json does not refer to core, so it is never built',
    ])
  })

  it('lets the root build leave out a package that has tests only', async () => {
    const files = {
      ...core,
      ...rootReferences('core'),
      'packages/system-tests/package.json': '{}',
      'packages/system-tests/test/a.test.ts': "import '@holdfast/core'",
    }
    expect(await withRepository(files, manifestProblems)).to.deep.equal([])
  })
})
