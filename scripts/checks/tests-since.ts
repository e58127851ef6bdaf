import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { moduleGraph } from './module-graph.ts'
import { needsByFile } from './test-needs.ts'

/** What changes everything: versions of libraries, options of the compiler and of mocha. */
const everywhere = /^(package\.json|pnpm-[\w-]+\.yaml|tsconfig[\w.]*\.json|\.mocharc\.json)$/

/** Names of what starts the command, the server among its verbs, in a process of its own: it is made of every package. */
const startsCommand =
  /\b(runHoldfast|startHoldfast\w*|useHoldfast|holdfastProgram|packagedProgram|startCopy|withReadmeServer)\b|scripts\/start/

const commandEntry = 'packages/holdfast/src/main.ts'

/** A package's sources from which its built files are made, which no import shows. */
const builtFrom: Readonly<Record<string, readonly string[]>> = {
  '@holdfast/web': ['packages/web/page/main.tsx', 'packages/web/page/by-link/main.tsx'],
}

/**
 * Finds the files that differ from the commit `ref`, uncommitted and new ones among them.
 *
 * @throws Error where `ref` names no commit
 */
export function changedSince(root: string, ref: string): string[] {
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' })
      .split('\0')
      .filter(Boolean)
  try {
    const changed = git('diff', '--name-only', '-z', '--end-of-options', ref, '--')
    return [...changed, ...git('ls-files', '--others', '--exclude-standard', '-z')]
  } catch (cause) {
    throw new Error(`--since ${ref}: git knows no such commit`, { cause })
  }
}

/**
 * Finds which of the test `files` the `changed` files concern. A test is concerned by
 *
 * - what it imports, directly or by way of others, and any source of another package that it imports;
 * - every package, where it starts the command or installs what is packed;
 * - what no test imports (documents, manifests, samples), where it or a module beside it names that file. Of a package it concerns
 *   all of that package's tests if none names it.
 */
export function affectedSince(
  root: string,
  files: readonly string[],
  changed: readonly string[],
): string[] {
  if (changed.some((path) => everywhere.test(path))) return [...files]
  const reachOf = reaching(root, files)
  const found = new Set<string>()
  for (const path of changed) {
    const home = packageOf(path)
    const importing = files.filter((file) => {
      const reach = reachOf(file)
      if (reach.modules.has(path)) return true
      return isSource(path) && home !== packageOf(file) && reach.packages.has(home)
    })
    const naming =
      importing.length > 0 ? [] : files.filter((file) => names(reachOf(file).text, path))
    const own = home === '' ? [] : files.filter((file) => packageOf(file) === home)
    const concerned = [importing, naming, own].find((some) => some.length > 0) ?? []
    for (const file of concerned) found.add(file)
  }
  return files.filter((file) => found.has(file))
}

interface Reach {
  readonly modules: ReadonlySet<string>
  /** The packages of which it imports or runs something. */
  readonly packages: ReadonlySet<string>
  /** The texts of the test and of what stands beside it. */
  readonly text: string
}

function reaching(root: string, files: readonly string[]): (file: string) => Reach {
  const graph = moduleGraph(root, (module) => [
    ...entryOf(root, module),
    ...(builtFrom[module] ?? []),
  ])
  const beside = moduleGraph(root)
  const needs = needsByFile(root, files)
  const texts = new Map<string, string>()
  const textOf = (module: string) => {
    const path = join(root, module)
    const text = texts.get(module) ?? (existsSync(path) ? readFileSync(path, 'utf8') : '')
    texts.set(module, text)
    return text
  }
  const known = new Map<string, Reach>()
  return (file) => {
    const found = known.get(file) ?? reachOf(file)
    known.set(file, found)
    return found
  }

  function reachOf(file: string): Reach {
    const modules = graph(file)
    const text = [...beside(file)].filter(isOfTests).map(textOf).join('\n')
    const isOfAll = ['tarballs', 'executable', 'images'].some((need) =>
      needs.get(file)?.some((each) => each === need),
    )
    if (startsCommand.test(text) || isOfAll)
      for (const each of graph(commandEntry)) modules.add(each)
    const sources = [...modules].filter(isSource)
    return { modules, packages: new Set(sources.map(packageOf)), text }
  }
}

/** The source that is built into what the package exports under this name; none for packages of others. */
function entryOf(root: string, module: string): string[] {
  const [, name, part] = /^@holdfast\/([^/]+)(\/.+)?$/.exec(module) ?? []
  if (name === undefined) return []
  const manifest = join(root, 'packages', name, 'package.json')
  if (!existsSync(manifest)) return []
  const { exports = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    readonly exports?: Readonly<Record<string, { readonly types?: string }>>
  }
  const types = exports[`.${part ?? ''}`]?.types
  if (types === undefined) return []
  return [join('packages', name, types.replace('/dist/', '/src/').replace(/\.d\.ts$/, '.ts'))]
}

/** The folder of a package; `''` for what is in none. */
function packageOf(path: string): string {
  return /^packages\/[^/]+/.exec(path)?.[0] ?? ''
}

function isSource(path: string): boolean {
  return /^packages\/[^/]+\/(src|bin|page)\//.test(path)
}

function isOfTests(path: string): boolean {
  return path.includes('/test/')
}

function names(text: string, path: string): boolean {
  const folder = dirname(path)
  return [`/${basename(path)}`, `'${basename(path)}'`, `'${folder}'`, `${folder}/*`].some((name) =>
    text.includes(name),
  )
}
