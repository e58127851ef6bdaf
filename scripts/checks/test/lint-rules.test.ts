import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { copyFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import ts from 'typescript'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'
import { lintViolations } from './lint-violations.ts'

const root = join(import.meta.dirname, '../../..')
const config = '.oxlintrc.jsonc'
const tsconfig = {
  compilerOptions: { target: 'es2023', module: 'nodenext', strict: true, types: ['node'] },
  include: ['src'],
}

interface Finding {
  readonly filename: string
  readonly code?: string
}

/** Runs the linter, as it is configured here, on the sources of a package: `sources` has a text for each file name. */
async function lint(sources: Readonly<Record<string, string>>): Promise<readonly Finding[]> {
  const files: Record<string, string> = { 'packages/a/tsconfig.json': JSON.stringify(tsconfig) }
  for (const [name, text] of Object.entries(sources)) files[`packages/a/src/${name}`] = text
  return withRepository(files, async (folder) => {
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    await copyFile(join(root, config), join(folder, config))
    const output = await new Promise<string>((resolve) => {
      const options = { cwd: folder, maxBuffer: 2 ** 24 }
      const oxlint = join(root, 'node_modules/.bin/oxlint')
      execFile(oxlint, ['--format', 'json', 'packages'], options, (_error, stdout) => {
        resolve(stdout)
      })
    })
    return (JSON.parse(output) as { diagnostics: Finding[] }).diagnostics
  })
}

/** All rules that are switched on somewhere. */
function configuredRules(): string[] {
  type Rules = Readonly<Record<string, unknown>>
  const { config: parsed } = ts.parseConfigFileTextToJson(
    config,
    readFileSync(join(root, config), 'utf8'),
  ) as { config: { rules: Rules; overrides: { rules: Rules }[] } }
  const all = [parsed, ...parsed.overrides].flatMap(({ rules }) => Object.entries(rules))
  return [...new Set(all.filter(([, level]) => level !== 'off').map(([name]) => name))]
}

describe('The rules of the linter', function () {
  this.timeout(60_000)

  it('find what each of them forbids', async () => {
    const rules = configuredRules()
    expect(Object.keys(lintViolations)).to.have.members(rules)
    const nameOf = (rule: string) => `${rule.replace('/', '-')}.ts`
    const sources = rules.map((rule) => [nameOf(rule), lintViolations[rule] ?? ''])
    const findings = await lint(Object.fromEntries(sources) as Record<string, string>)
    const isFound = (rule: string) =>
      findings.some(({ filename, code = '' }) => {
        const [, plugin = '', name = ''] = /^(.*)\((.*)\)$/.exec(code) ?? []
        return filename.endsWith(nameOf(rule)) && rule === `${plugin}/${name}`
      })
    expect(rules.filter((rule) => !isFound(rule))).to.deep.equal([])
  })

  it('allow an unused parameter with an underscore, and report a comment that disables nothing', async () => {
    const findings = await lint({
      'unused.ts': 'export const first = (_skipped: number, n: number) => n\n',
      'comment.ts': '// oxlint-disable-next-line eslint/no-var\nexport const n = 1\n',
    })
    expect(findings).to.have.length(1)
    expect(findings[0]?.filename).to.match(/comment\.ts$/)
  })
})
