import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { packPackages } from '../pack-packages.ts'
import { packedPackage, packedPackages } from './packed-packages.ts'

const root = join(import.meta.dirname, '../../..')

describe('packPackages', function () {
  this.timeout(120_000)

  it('packs every package but those that are private', async () => {
    const names = (await packedPackages()).map(({ name }) => name)
    expect(names).to.deep.equal([
      '@holdfast/client',
      '@holdfast/contract',
      '@holdfast/copy',
      '@holdfast/core',
      '@holdfast/credentials-file',
      '@holdfast/http-koa',
      '@holdfast/passwords',
      '@holdfast/resumable',
      '@holdfast/server',
      '@holdfast/shared-redis',
      '@holdfast/store-disk',
      '@holdfast/store-minio',
      '@holdfast/web',
      'holdfast',
    ])
  })

  it('writes versions where the workspace says something of its own', async () => {
    const { file } = await packedPackage('@holdfast/http-koa')
    const manifest = execFileSync('tar', ['-xzOf', file, 'package/package.json'], {
      encoding: 'utf8',
    })
    expect(manifest).not.to.match(/workspace:|catalog:/)
    expect(manifest).to.match(/"@holdfast\/core": "\^\d+\.\d+\.\d+"/)
  })

  it('makes the same bytes again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-packed-again-'))
    try {
      for (const { name, file } of await packPackages(root, folder)) {
        const first = await readFile((await packedPackage(name)).file)
        expect((await readFile(file)).equals(first), name).to.equal(true)
      }
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
