import { join } from 'node:path'
import { build } from 'esbuild'

/** The script of the page that runs clients, with the clients in it as browsers load them. */
export async function bundlePageScript(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, '../page/page.ts')],
    bundle: true,
    platform: 'browser',
    format: 'iife',
    write: false,
  })
  return outputFiles.map(({ text }) => text).join('')
}
