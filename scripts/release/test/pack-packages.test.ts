import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { installTarballs } from './install-tarballs.ts'
import { packedPackage, packedPackages } from './packed-packages.ts'

describe('packPackages', function () {
  this.timeout(120_000)

  it('packs every package but those that are private', async () => {
    const names = (await packedPackages()).map(({ name }) => name)
    expect(names).to.deep.equal([
      '@holdfast/contract',
      '@holdfast/core',
      '@holdfast/credentials-file',
      '@holdfast/http-koa',
      '@holdfast/server',
      '@holdfast/store-disk',
      '@holdfast/store-minio',
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

  it('makes what npm installs outside of the workspace', async () => {
    const project = await installTarballs(['@holdfast/store-disk'])
    try {
      const core = join(project.folder, 'node_modules/@holdfast/core/dist/index.js')
      expect(existsSync(core)).to.equal(true)
    } finally {
      await project.remove()
    }
  })
})
