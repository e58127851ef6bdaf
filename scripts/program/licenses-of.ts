import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
}

interface Library {
  readonly manifest: Manifest
  /** Of its files with licences and notices. */
  readonly texts: readonly string[]
}

/** The terms in the text of a licence: what is the same for all who grant it. */
const terms: Readonly<Record<string, RegExp>> = {
  MIT: /Permission is hereby granted[^]*/,
  'Apache-2.0': /Apache License\s[^]*END OF TERMS AND CONDITIONS/,
}

/**
 * The licences of the libraries that these modules are of, by their paths: name, version and text of each, in order. One that
 * comes without a file has the terms that its manifest names, as another of the libraries has them.
 */
export function licensesOf(modules: readonly string[]): string {
  const folders = modules.map((path) => /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0])
  const others = [...new Set(folders)].filter((folder) => folder !== undefined)
  const libraries = others.map(readLibrary)
  return [...new Set(libraries.map((library) => licenseOf(library, libraries)))].sort().join('\n')
}

function readLibrary(folder: string): Library {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  const files = readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
  const texts = files.sort().map((name) => readFileSync(join(folder, name), 'utf8').trim())
  return { manifest, texts }
}

function licenseOf({ manifest, texts }: Library, libraries: readonly Library[]): string {
  const { name, version, license } = manifest
  const head = `== ${name} ${version} (${license ?? 'see below'})`
  if (texts.length > 0) return [head, ...texts, ''].join('\n\n')
  const note = `The package has no file with its licence; its manifest names ${license}.`
  return [head, note, termsOf(manifest, libraries), ''].join('\n\n')
}

function termsOf({ name, license = '' }: Manifest, libraries: readonly Library[]): string {
  const same = libraries.filter(({ manifest }) => manifest.license === license)
  for (const text of same.flatMap(({ texts }) => texts)) {
    const found = terms[license]?.exec(text)
    if (found) return found[0].trim()
  }
  throw new Error(
    `${name} has no file with its licence, and the terms of "${license}" are not known`,
  )
}
