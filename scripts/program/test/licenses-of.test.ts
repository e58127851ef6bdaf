import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { licensesOf } from '../licenses-of.ts'

describe('licensesOf', () => {
  let folder: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-licenses-of-'))
  })

  afterEach(() => rmSync(folder, { recursive: true }))

  /** Makes a package, and gives the path of its module. */
  const library = (name: string, license: string, text?: string) => {
    const place = join(folder, 'node_modules', name)
    mkdirSync(place, { recursive: true })
    const manifest = { name, version: '1.0.0', license }
    writeFileSync(join(place, 'package.json'), JSON.stringify(manifest))
    if (text !== undefined) writeFileSync(join(place, 'LICENSE'), text)
    return join(place, 'lib/index.js')
  }

  it('has the texts of each package once, in order', () => {
    const modules = [library('b', 'ISC', 'Of b.'), library('@x/a', 'MIT', 'Of a.')]
    expect(licensesOf([...modules, ...modules, '/src/own.js'])).to.equal(
      '== @x/a 1.0.0 (MIT)\n\nOf a.\n\n\n== b 1.0.0 (ISC)\n\nOf b.\n\n',
    )
  })

  it('has the terms of a package without a file, but not the copyright of another one', () => {
    const granted = 'Permission is hereby granted, free of charge.'
    const modules = [library('a', 'MIT'), library('b', 'MIT', `Copyright (c) B\n\n${granted}\n`)]
    const [first] = licensesOf(modules).split(/^(?=== b)/m)
    expect(first)
      .to.include('no file with its licence; its manifest names MIT')
      .and.include(granted)
    expect(first).to.not.include('Copyright')
  })

  it('refuses a package without a file whose terms are not known', () => {
    const modules = [library('a', 'MIT', 'Of a.'), library('b', 'BSD-3-Clause')]
    expect(() => licensesOf(modules)).to.throw('b has no file with its licence')
  })
})
