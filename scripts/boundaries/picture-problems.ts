import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mermaidArrows } from './mermaid-arrows.ts'
import { readPackages, type Import, type Package } from './read-packages.ts'

const document = 'docs/architecture.md'

/** Two screens, in lines. Who wants to know more reads the decisions, or the files. */
const longest = 100

const scope = '@holdfast/'

/**
 * Says where `docs/architecture.md` of the repository at `root` departs from the sources: one sentence a problem, none when
 * all is well. The thin arrows of its first picture must be the imports between packages, its dotted ones the further
 * imports of their tests; every file that it names must be there; and it must stay as short as a newcomer reads.
 */
export async function pictureProblems(
  root: string,
  reading = readPackages(root),
): Promise<string[]> {
  const text = readFileSync(join(root, document), 'utf8')
  const packages = await reading
  const problems = [
    ...arrowProblems(text, packages),
    ...nameProblems(text, root),
    ...lengthProblems(text),
  ]
  return problems.map((problem) => `${document} ${problem}`)
}

function arrowProblems(text: string, packages: readonly Package[]): string[] {
  const [, flowchart] = /^```mermaid\n([^]*?)^```$/m.exec(text) ?? []
  if (flowchart === undefined) return ['has no picture']
  const known = new Set(packages.map(({ name }) => name))
  const drawn = mermaidArrows(flowchart)
    .filter(({ from, to, kind }) => kind !== 'thick' && known.has(from) && known.has(to))
    .map(({ from, to, kind }) => `${from} ${kind === 'thin' ? '-->' : '-.->'} ${to}`)
  const real = packages.flatMap(realArrows)
  const missing = real.filter((arrow) => !drawn.includes(arrow))
  const extra = drawn.filter((arrow) => !real.includes(arrow))
  const absent = [...known].filter((name) => !new RegExp(`\\b${name}\\b`).test(flowchart))
  return [
    ...missing.map((arrow) => `does not draw ${arrow}, which is imported`),
    ...extra.map((arrow) => `draws ${arrow}, which is not imported`),
    ...absent.map((name) => `does not draw ${name}`),
  ]
}

function realArrows({ name, imports, testImports }: Package): string[] {
  const inSource = packagesIn(imports)
  const inTests = packagesIn(testImports).filter(
    (other) => other !== name && !inSource.includes(other),
  )
  return [
    ...inSource.map((other) => `${name} --> ${other}`),
    ...inTests.map((other) => `${name} -.-> ${other}`),
  ]
}

function packagesIn(imports: readonly Import[]): string[] {
  const ours = imports.filter(({ specifier }) => specifier.startsWith(scope))
  return [...new Set(ours.map(({ specifier }) => specifier.split('/')[1] ?? ''))]
}

/** A file may be named by the end of its path, in words and in the pictures. */
function nameProblems(text: string, root: string): string[] {
  const paths = globSync('{packages/*/{src,test,bin},scripts}/**/*.{ts,js}', { cwd: root })
  const named = [...text.matchAll(/[`" ]([\w./-]+\.ts)(?=[`"<,])/g)].map(([, name = '']) => name)
  const lost = named.filter((name) => !paths.some((path) => `/${path}`.endsWith(`/${name}`)))
  return [...new Set(lost)].map((name) => `names ${name}, which is not there`)
}

function lengthProblems(text: string): string[] {
  const lines = text.trimEnd().split('\n').length
  return lines <= longest ? [] : [`has ${lines} lines; two screens are ${longest}`]
}
