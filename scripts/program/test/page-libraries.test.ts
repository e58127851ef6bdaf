import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { licensesOf } from '../licenses-of.ts'
import { pageLibraries } from '../page-libraries.ts'

const root = join(import.meta.dirname, '../../..')

describe('pageLibraries', () => {
  const licenses = licensesOf(pageLibraries(root))

  it('names every library that the page imports', () => {
    const page = join(root, 'packages/web/page')
    const sources = globSync('**/*.{ts,tsx}', { cwd: page, exclude: ['node_modules'] })
    const texts = sources.map((path) => readFileSync(join(page, path), 'utf8'))
    const imports = texts.flatMap((text) => [
      ...text.matchAll(/ from '((?:@[^/']+\/)?[^./'][^/']*)/g),
    ])
    const imported = new Set(imports.map(([, name = '']) => name))
    const others = [...imported].filter((name) => !name.startsWith('@holdfast/'))
    expect(others).to.include('preact')
    for (const name of others) expect(licenses).to.include(`== ${name} `)
  })

  it('has the licence of each, and of what these need', () => {
    expect(licenses).to.match(/^== @preact\/signals-core \S+ \(MIT\)\n\n.*MIT License/m)
    const parts = licenses.split(/^== /m).slice(1)
    for (const part of parts) expect(part).to.match(/Permission (is hereby granted|to use)/i)
  })
})
