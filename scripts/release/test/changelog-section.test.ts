import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { changelogSection } from '../changelog-section.ts'
import { versionsOf } from '../versions.ts'

const root = join(import.meta.dirname, '../../..')
const changelog = `# Changelog

## 1.1.0 - unreleased

### Added

- This

## 1.0.0 - 2026-01-02

The first.
`

describe('changelogSection', () => {
  it('finds what is said of a version, and its date', () => {
    expect(changelogSection(changelog, '1.1.0')).to.deep.equal({
      date: 'unreleased',
      text: '### Added\n\n- This',
    })
    const first = { date: '2026-01-02', text: 'The first.' }
    expect(changelogSection(changelog, '1.0.0')).to.deep.equal(first)
  })

  it('finds nothing of other versions', () => {
    for (const version of ['1.1', '1.1.0-rc.1', '0.1.0', '']) {
      expect(changelogSection(changelog, version)).to.equal(undefined)
    }
  })
})

describe('The version', () => {
  it('is the same in every manifest, and CHANGELOG.md has a section of it', async () => {
    const versions = new Set((await versionsOf(root)).values())
    expect(versions).to.have.property('size', 1)
    const text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
    for (const version of versions) expect(changelogSection(text, version)?.text).to.match(/\w/)
  })
})
