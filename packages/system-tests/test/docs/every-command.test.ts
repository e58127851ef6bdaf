import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { holdfastProgram } from '@holdfast/testing'
import { expect } from 'chai'
import { documents, shellBlocks, textOf } from './shell-blocks.ts'
import { claims } from './who-runs.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const blocks = documents().flatMap(shellBlocks)
const claimsOf = ({ document, script }: { document: string; script: string }) =>
  claims.filter((claim) => claim.document.test(document) && claim.shell.test(script))

describe('The shell of the documents', () => {
  for (const block of blocks) {
    const [first = ''] = block.script.split('\n')
    it(`is run, or said why not: ${block.document}, line ${block.line}: ${first}`, () => {
      expect(claimsOf(block), 'lines of who-runs.ts').not.to.be.empty
    })
  }

  for (const claim of claims) {
    const { document, shell, by, why } = claim
    it(`has what who-runs.ts claims: ${String(document)} ${String(shell)}`, () => {
      expect(blocks.filter((block) => claimsOf(block).includes(claim))).not.to.be.empty
      expect([by, why]).to.include(undefined)
      if (by === undefined) expect(why).to.match(/\w/)
      else expect(existsSync(join(root, by)), by).to.be.true
    })
  }
})

/** Commands of this repository that stand within sentences and tables, each once, with a document that has it. */
const inSentences = new Map(
  documents().flatMap((document) =>
    [...textOf(document).matchAll(/`((?:holdfast|scripts\/[\w/]+)(?: [^`…]*)?)`/g)].map(
      ([, command = '']) => [command, document] as const,
    ),
  ),
)

describe('The commands within sentences', () => {
  const helps = new Map<string, Promise<string>>()
  const helpOf = (program: string, subcommand: string) => {
    const key = `${program} ${subcommand}`
    const args = [...subcommand.split(' ').filter(Boolean), '--help']
    const [path, before] =
      program === 'holdfast' ? [process.execPath, [holdfastProgram]] : [join(root, program), []]
    const ask = () => promisify(execFile)(path, [...before, ...args], { cwd: root })
    const help = helps.get(key) ?? ask().then(({ stdout }) => stdout)
    helps.set(key, help)
    return help
  }

  it('are found', () => expect(inSentences.size).to.be.above(40))

  for (const [command, document] of inSentences) {
    it(`are of programs, flags and paths that there are: ${command} (${document})`, async function () {
      this.timeout(60_000)
      const [program = '', ...words] = command.split(' ')
      if (program !== 'holdfast') expect(existsSync(join(root, program)), program).to.be.true
      const paths = words.filter((word) => /^(packages|scripts|docs|examples)\//.test(word))
      for (const path of paths) expect(existsSync(join(root, path)), path).to.be.true
      const flags = words.filter((word) => word.startsWith('--') && word !== '--help')
      const verbs = words.filter((word) => /^[a-z]+$/.test(word))
      const hasTwo = /^(customers|events|versions purge)\b/.test(verbs.join(' '))
      const subcommand = verbs.slice(0, hasTwo ? 2 : 1).join(' ')
      if (flags.length === 0 && (program !== 'holdfast' || subcommand === '')) return
      // Flags alone are those of serve.
      const isServe = program === 'scripts/start' && words[0]?.startsWith('--')
      const isOwn = program === 'holdfast' || program === 'scripts/start'
      // scripts/start passes everything on to holdfast, after a look at what there is to build.
      const helpful = isOwn ? 'holdfast' : program
      const help = await helpOf(helpful, isServe ? 'serve' : isOwn ? subcommand : '')
      for (const flag of flags) expect(`${help} --version`).to.include(flag)
    })
  }
})
