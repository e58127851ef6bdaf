import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

/** What Vite bundles into the page; those of them that only another one of them uses lie beside that. */
const names = [
  '@noble/hashes',
  '@preact/signals',
  '@preact/signals-core',
  'client-zip',
  'lucide',
  'marked',
  'preact',
]

/** The folders of the libraries that the page of the repository at `root` is bundled of. */
export function pageLibraries(root: string): readonly string[] {
  const own = join(root, 'packages/web/node_modules')
  const signals = join(realpathSync(join(own, '@preact/signals')), '../..')
  return names.map((name) => {
    const folder = join(own, name)
    return realpathSync(existsSync(folder) ? folder : join(signals, name))
  })
}
