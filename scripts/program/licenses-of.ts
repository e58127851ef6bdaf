import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
}

/** The licences of the libraries that these modules are of, by their paths: name, version and text of each, in order. */
export function licensesOf(modules: readonly string[]): string {
  const folders = modules.map((path) => /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0])
  const others = [...new Set(folders)].filter((folder) => folder !== undefined)
  return [...new Set(others.map(licenseOf))].sort().join('\n')
}

function licenseOf(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  const files = readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
  const texts = files.sort().map((name) => readFileSync(join(folder, name), 'utf8').trim())
  const head = `== ${manifest.name} ${manifest.version} (${manifest.license ?? 'see below'})`
  return [head, ...texts, ''].join('\n\n')
}
