import { readFile } from 'node:fs/promises'
import type { Plugin } from 'esbuild'

/** esbuild bundles what `require` names, and not what our modules name to one that they have made. */
export const bundlesRequired: Plugin = {
  name: 'bundles-required',
  setup: (bundling) =>
    bundling.onLoad({ filter: /\/http-koa\/dist\/.*\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      return { contents: text.replace(/\bcreateRequire\d*\(import\.meta\.url\)/g, 'require') }
    }),
}
