import { join } from 'node:path'
import { expect } from 'chai'
import { boundaryProblems } from '../boundary-problems.ts'
import {
  packageFiles,
  rootReferences,
  withRepository,
  type PackageDraft,
} from './fixture-repository.ts'

const core = packageFiles('core', { source: "import './model/name.ts'" })

async function problemsWith(name: string, draft: PackageDraft): Promise<string[]> {
  const files = { ...core, ...packageFiles(name, draft), ...rootReferences('core', name) }
  return withRepository(files, boundaryProblems)
}

describe('boundaryProblems', () => {
  it('finds none in this repository', async () => {
    expect(await boundaryProblems(join(import.meta.dirname, '../../..'))).to.deep.equal([])
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

  it('names a source that imports a package of which only the tests know', async () => {
    const draft = {
      dependencies: ['core'],
      devDependencies: ['contract'],
      source: "export { describeBlobStore } from '@holdfast/contract'",
    }
    expect(await problemsWith('store-disk', draft)).to.deep.equal([
      'store-disk/src/index.ts imports @holdfast/contract, which is not in its dependencies',
    ])
  })

  it('names a source that reaches into another package by path', async () => {
    const draft = {
      dependencies: ['core'],
      source: "const { put } = await import('../../http-koa/src/put.ts')",
    }
    expect(await problemsWith('store-disk', draft)).to.deep.equal([
      'store-disk/src/index.ts imports ../../http-koa/src/put.ts, outside its src',
    ])
  })

  it('names what core depends on and what it imports', async () => {
    const draft = {
      dependencies: ['npm:ajv'],
      references: [],
      source: "import { join } from 'node:path'\nimport Ajv from 'ajv'",
    }
    const files = { ...packageFiles('core', draft), ...rootReferences('core') }
    expect(await withRepository(files, boundaryProblems)).to.deep.equal([
      'core has the dependency ajv; it may have none',
      'core/src/index.ts imports node:path; core imports only itself',
      'core/src/index.ts imports ajv; core imports only itself',
    ])
  })

  it('names a package that is not placed in the architecture', async () => {
    expect(await problemsWith('store-tape', {})).to.deep.equal([
      'store-tape has no line in scripts/boundaries/allowed-edges.ts',
    ])
  })

  it('names a package that the root build leaves out', async () => {
    expect(await withRepository({ ...core, ...rootReferences() }, boundaryProblems)).to.deep.equal([
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
    expect(await withRepository(files, boundaryProblems)).to.deep.equal([])
  })
})
