import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { expect } from 'chai'
import { lockedPackages } from './locked-packages.ts'
import type { Release } from './use-release.ts'

/** Declares tests of the lists of what a release brings along. */
export function describeBillsOfMaterials(release: Release): void {
  describe('The bill of materials of a release', function () {
    this.timeout(120_000)

    it('is valid, and has all that the lockfile has, and what the page is bundled of', async () => {
      const text = await readFile(join(release.out, `holdfast-${release.version}.cdx.json`), 'utf8')
      const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
      expect(await validator.validate(text)).to.equal(null)
      const { metadata, components } = JSON.parse(text) as {
        metadata: { component: { purl: string } }
        components: { purl: string }[]
      }
      expect(metadata.component.purl).to.equal(`pkg:npm/holdfast@${release.version}`)
      const listed = components.map(({ purl }) => decodeURIComponent(purl.replace('pkg:npm/', '')))
      const locked = [
        ...(await lockedPackages(release.repository.folder, 'packages/holdfast')),
      ].map((id) => id.replace(/^packages\/(.*)$/, `@holdfast/$1@${release.version}`))
      expect(locked)
        .to.include.members([`@holdfast/core@${release.version}`])
        .and.to.have.length.above(50)
      const bundled = listed
        .filter((id) => !locked.includes(id))
        .map((id) => id.replace(/@[^@]*$/, ''))
      const page = [
        '@noble/hashes',
        '@preact/signals',
        '@preact/signals-core',
        'client-zip',
        'lucide',
        'marked',
        'preact',
      ]
      expect(bundled).to.have.members(page)
      expect(listed).to.include.members(locked)
    })

    it('of the executables is valid, and has Node.js and its libraries', async () => {
      const text = await readFile(
        join(release.out, `holdfast-${release.version}-linux.cdx.json`),
        'utf8',
      )
      const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
      expect(await validator.validate(text)).to.equal(null)
      const { components } = JSON.parse(text) as { components: { name: string; version: string }[] }
      const versions = components.map((component) => `${component.name} ${component.version}`)
      const { node, openssl } = process.versions
      expect(versions).to.include.members([`node ${node}`, `openssl ${openssl}`])
      expect(versions.join('\n'))
        .to.match(/^koa \d/m)
        .and.match(/^preact \d/m)
    })
  })
}
