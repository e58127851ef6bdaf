import type { Plugin } from 'esbuild'

/** Each printable character of ASCII is one wide and a line break none; only other text needs Unicode's tables. */
const measure = String.raw`
const isPlain = (text) => typeof text === 'string' && /^[ -~\n]*$/.test(text)
export default (text, ...options) =>
  isPlain(text) ? text.replaceAll('\n', '').length : require('itself').default(text, ...options)
`

/**
 * Has string-width be loaded when there is something to measure that is not ASCII. It prepares Unicode's tables as soon as it is loaded,
 * which takes a quarter of the time until a command has started; and yargs makes the help, and measures it, for each command.
 */
export const measuresLate: Plugin = {
  name: 'measures-late',
  setup(bundling) {
    bundling.onLoad({ filter: /\/string-width\/index\.js$/ }, ({ suffix }) =>
      suffix === '' ? { contents: measure } : undefined,
    )
    bundling.onResolve({ filter: /^itself$/ }, ({ importer }) => ({
      path: importer,
      suffix: '?itself',
    }))
  },
}
