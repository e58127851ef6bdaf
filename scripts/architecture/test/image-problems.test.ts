import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { packageFiles, withRepository } from '../../boundaries/test/fixture-repository.ts'
import { readPackages } from '../../boundaries/read-packages.ts'
import { image, imageProblems } from '../image-problems.ts'
import { renderArchitecture } from '../render-architecture.ts'
import { packageOf } from './package-of.ts'

const files = {
  ...packageFiles('core', {}),
  ...packageFiles('store-disk', { dependencies: ['core'] }),
  [image]: '',
}

describe('imageProblems', () => {
  it('finds none in this repository', async () => {
    expect(await imageProblems(join(import.meta.dirname, '../../..'))).to.deep.equal([])
  })

  it('finds a picture that is out of date, and none once it is drawn anew', () =>
    withRepository(files, async (root) => {
      expect(await imageProblems(root)).to.have.length(1)
      await writeFile(join(root, image), renderArchitecture(await readPackages(root)))
      expect(await imageProblems(root)).to.deep.equal([])
    }))

  it('finds a picture that is missing', () =>
    withRepository(packageFiles('core', {}), async (root) => {
      expect((await imageProblems(root)).join()).to.contain('node scripts/draw-architecture.ts')
    }))
})

describe('renderArchitecture', () => {
  const drawn = renderArchitecture([
    packageOf('core', []),
    packageOf('store-disk', ['core']),
    { ...packageOf('testing', ['core']), isPrivate: true },
  ])

  it('shows each published package with its description, and names the private ones', () => {
    expect(drawn).to.contain('>store-disk</text>').and.to.contain('>What store-disk')
    expect(drawn).to.contain('&lt;is>').and.not.to.contain('>testing</text>')
    expect(drawn).to.contain('not drawn: testing.')
  })

  it('brings its own background, and nothing that pages drop from images', () => {
    expect(drawn).to.match(/<rect [^>]*fill="#ffffff"/)
    expect(drawn).not.to.match(/<(script|style|image|foreignObject)\b|href=/)
  })
})
