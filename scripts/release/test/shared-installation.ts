import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishedPackages } from '../pack-packages.ts'
import { installInto } from './install-tarballs.ts'
import { linkPackages } from './link-packages.ts'

const root = join(import.meta.dirname, '../../..')

/** Folders of modules with all packages, installed from tarballs. Tests link to them, and do not change them. */
export interface Installation {
  /** The project in which npm has installed them, with all that the examples and the samples of the documents import. */
  readonly project: string
  /** Its modules. */
  readonly samples: string
  /** The packages and what they need, the command, and the types of Node.js 22, which is the oldest that they are for; nothing else. */
  readonly packages: string
}

/** They stand beside those that the examples ask for. */
const oldTypes = '@types/node-22'
const old = { [oldTypes]: 'npm:@types/node@^22' }

let made: Promise<Installation> | undefined

/**
 * The installation that `scripts/test` makes for all its tests, or else one that is made once for all tests of this process and
 * removed with it.
 */
export function sharedInstallation(): Promise<Installation> {
  made ??= findOrMake()
  return made
}

async function findOrMake(): Promise<Installation> {
  const shared = process.env['HOLDFAST_TEST_INSTALLATION']
  if (shared !== undefined) return installationIn(shared)
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-installation-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return makeInstallation(folder)
}

/** Makes the installation in `folder`. */
export async function makeInstallation(folder: string): Promise<Installation> {
  const installation = installationIn(folder)
  const { project, samples, packages } = installation
  const names = publishedPackages(root)
  mkdirSync(project, { recursive: true })
  await installInto(project, names, { others: importedBySamples() })
  linkPackages(samples, packages, [...names, oldTypes])
  // Instead of those that the types of others have brought.
  rmSync(join(packages, '@types/node'), { recursive: true })
  renameSync(join(packages, oldTypes), join(packages, '@types/node'))
  mkdirSync(join(packages, '.bin'))
  cpSync(join(samples, '.bin/holdfast'), join(packages, '.bin/holdfast'), {
    verbatimSymlinks: true,
  })
  return installation
}

function installationIn(folder: string): Installation {
  const project = join(folder, 'project')
  return {
    project,
    samples: join(project, 'node_modules'),
    packages: join(folder, 'packages/node_modules'),
  }
}

/** The packages of others that the manifests of the examples ask for, and those of the samples of the documents. */
function importedBySamples(): Readonly<Record<string, string>> {
  const examples = join(root, 'examples')
  const wanted = globSync('*/package.json', { cwd: examples }).map((path) => {
    const text = readFileSync(join(examples, path), 'utf8')
    const { dependencies, devDependencies } = JSON.parse(text) as Record<
      'dependencies' | 'devDependencies',
      Readonly<Record<string, string>>
    >
    return { ...dependencies, ...devDependencies }
  })
  const others = Object.entries(
    Object.assign({ '@koa/multer': '^4', pino: '*', ...old }, ...wanted) as Record<string, string>,
  )
  return Object.fromEntries(others.filter(([name]) => !name.startsWith('@holdfast/')))
}
