import { readFile } from 'node:fs/promises'
import type { Plugin } from 'esbuild'

/** esbuild bundles what `require` names, unless a module has made that `require` itself. */
export const bundlesRequired: Plugin = {
  name: 'bundles-required',
  setup: (bundling) =>
    bundling.onLoad({ filter: /\/http-koa\/dist\/modules\/required\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const own = /^import \{ createRequire \} .*\n|^const require = .*\n/gm
      return { contents: text.replace(own, '') }
    }),
}
