import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { expect } from 'chai'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { publishedPackages } from '../pack-packages.ts'
import { packedPackage } from './packed-packages.ts'

const root = join(import.meta.dirname, '../../..')

// What follows from being ESM only: resolution as before Node.js 12, and `require` in the eyes of TypeScript.
const isMeant = (problem: { kind: string; resolutionKind?: string }) =>
  (problem.kind === 'NoResolution' && problem.resolutionKind === 'node10') ||
  problem.kind === 'CJSResolvesToESM'

/** Whether it is run, and no program imports it. */
const isProgram = (name: string) => name === 'holdfast'

/** Whether it has what browsers load. */
const isPage = (name: string) => name === '@holdfast/web'

for (const name of publishedPackages(root)) {
  describe(`The tarball of ${name}`, function () {
    this.timeout(120_000)

    it('holds program, sources, README, licence and manifest, and nothing else', async () => {
      const { file } = await packedPackage(name)
      const paths = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' }).trimEnd().split('\n')
      const inside = paths.map((path) => path.replace(/^package\//, ''))
      const modules = /^(dist\/.+\.(js|d\.ts)(\.map)?|src\/.+\.ts|bin\/holdfast\.js)$/
      const isOther = (path: string) =>
        !modules.test(path) && !(isPage(name) && path.startsWith('dist/page/'))
      const others = inside.filter(isOther).sort()
      const manual = isProgram(name) ? ['man/holdfast.1'] : []
      expect(others).to.deep.equal(['LICENSE', 'README.md', ...manual, 'package.json'])
      const entry = isProgram(name)
        ? ['bin/holdfast.js', 'dist/main.js', 'src/main.ts']
        : ['dist/index.js', 'dist/index.d.ts', 'src/index.ts']
      const page = ['', '.gz', '.br'].map((suffix) => `dist/page/index.html${suffix}`)
      expect(inside).to.include.members([...entry, ...(isPage(name) ? page : [])])
    })

    it('says what it is, under which licence, and for which Node.js', async () => {
      const { file } = await packedPackage(name)
      const options = { encoding: 'utf8' } as const
      const text = execFileSync('tar', ['-xzOf', file, 'package/package.json'], options)
      const manifest = JSON.parse(text) as Record<string, unknown>
      expect(manifest).to.deep.include({
        license: 'MIT',
        type: 'module',
        engines: { node: '>=22' },
        sideEffects: false,
      })
      expect(manifest['description']).to.match(/^.{30,}\.$/)
      expect(manifest['keywords']).to.include('holdfast')
    })

    it('is in order for publint', async () => {
      const { buffer } = new Uint8Array(await readFile((await packedPackage(name)).file))
      const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true })
      expect(messages.map((message) => formatMessage(message, pkg))).to.deep.equal([])
    })

    if (isProgram(name)) return

    it('has types that are right for whoever imports it', async () => {
      const data = new Uint8Array(await readFile((await packedPackage(name)).file))
      const result = await checkPackage(createPackageFromTarballData(data))
      if (result.types === false) throw new Error('It has no types')
      expect(result.problems.filter((problem) => !isMeant(problem))).to.deep.equal([])
    })
  })
}
