import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { build } from 'esbuild'
import { bundleProgram } from '../bundle-program.ts'
import { measuresLate } from '../measures-late.ts'

const root = join(import.meta.dirname, '../../..')
const yargs = dirname(createRequire(join(root, 'packages/holdfast/package.json')).resolve('yargs'))

const witness = `
const { Segmenter } = Intl
class Witnessed extends Segmenter {
  constructor(...args) {
    super(...args)
    process.stderr.write('segments\\n')
  }
}
Object.assign(Intl, { Segmenter: Witnessed })
process.stderr.write('watched\\n')`

type Measure = (text: unknown, options?: { readonly countAnsiEscapeCodes?: boolean }) => number

/** string-width as the packages of yargs find it, and how many `Intl.Segmenter` there are when it has been loaded. */
async function load(plugins: readonly (typeof measuresLate)[]) {
  const entry = `import measure from 'string-width'\nexport { measure }`
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: yargs },
    ...{ bundle: true, format: 'esm', platform: 'node', write: false, plugins: [...plugins] },
  })
  const source = outputFiles.map(({ text }) => text).join('')
  const made = Intl.Segmenter
  let count = 0
  class Counted extends made {
    constructor(...args: ConstructorParameters<typeof made>) {
      super(...args)
      count++
    }
  }
  Object.assign(Intl, { Segmenter: Counted })
  try {
    const module = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as {
      measure: Measure
    }
    return { ...module, count }
  } finally {
    Object.assign(Intl, { Segmenter: made })
  }
}

describe('measuresLate', () => {
  it('prepares nothing until a text is not ASCII', async () => {
    expect((await load([])).count, 'without it').to.be.greaterThan(0)
    expect((await load([measuresLate])).count).to.equal(0)
  })

  it('measures as string-width does', async () => {
    const { measure: own } = await load([])
    const { measure } = await load([measuresLate])
    const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))
    const texts = [
      ...ascii,
      ...ascii.map((character) => `a${character}b\nc${character}`),
      ...['', 'plain text', 'é', 'e\u0301', '文字', '👩‍👩‍👧', '\u001B[31mred\u001B[0m', 'a\r\nb'],
      ...[undefined, null, 12, ['text']],
    ]
    for (const text of texts)
      for (const countAnsiEscapeCodes of [false, true])
        expect(measure(text, { countAnsiEscapeCodes }), JSON.stringify(text)).to.equal(
          own(text, { countAnsiEscapeCodes }),
        )
  })

  it('works in the program', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-bundle-'))
    try {
      const program = await bundleProgram(root, folder)
      expect(await witnessed(program, '--version')).to.equal('watched\n')
      const unbundled = join(root, 'packages/holdfast/bin/holdfast.js')
      expect(await witnessed(unbundled, '--version')).to.include('segments')
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

/** What a program of Node.js writes on standard error under a witness that reports itself and each `Intl.Segmenter`. */
async function witnessed(...command: readonly string[]): Promise<string> {
  const watching = `--import=data:text/javascript,${encodeURIComponent(witness)}`
  return (await promisify(execFile)(process.execPath, [watching, ...command])).stderr
}
