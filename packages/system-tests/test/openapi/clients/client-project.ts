import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { cachedInstallation } from '../cached-installation.ts'
import { ensurePythonEnvironment } from '../python-environment.ts'

const source = join(import.meta.dirname, 'project')
const description = join(import.meta.dirname, '../../../../../docs/openapi.yaml')

/** Programs in Java run for seconds here: the second compiler, and a collector with threads, cost more than they save. */
const shortLived = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'

/** A copy of `project` with docs/openapi.yaml, the generators, and what their clients need. */
export interface ClientProject {
  /** The class path of the Java client's libraries. */
  readonly libraries: string
  /** Runs a program of the generators or of the machine in the project; resolves with what it prints. */
  run(
    program: string,
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Promise<string>
  /** The files that `pattern` finds in the project. */
  find(pattern: string): readonly string[]
  remove(): Promise<void>
}

/** Makes the project; installs generators and libraries the first time. */
export async function createClientProject(): Promise<ClientProject> {
  const modules = await ensureModules()
  const python = await ensurePythonEnvironment('python-clients', join(source, 'requirements.txt'))
  const libraries = await ensureLibraries()
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-clients-'))
  await cp(source, folder, { recursive: true })
  await cp(description, join(folder, 'openapi.yaml'))
  await symlink(join(modules, 'node_modules'), join(folder, 'node_modules'))

  const programs = [
    join(folder, 'node_modules/.bin'),
    join(python, 'bin'),
    dirname(process.execPath),
  ]
  const path = [...programs, process.env['PATH']].join(delimiter)
  return {
    libraries: join(libraries, '*'),
    run(program, args, env = {}) {
      // Java and Python read names from the command line as the locale says.
      const environment = { PATH: path, LC_ALL: 'C.UTF-8', JAVA_TOOL_OPTIONS: shortLived, ...env }
      return run(program, args, { cwd: folder, env: environment })
    },
    find: (pattern) => globSync(pattern, { cwd: folder }),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** The generators from npm. */
async function ensureModules(): Promise<string> {
  const files = ['package.json', 'pnpm-lock.yaml']
  const inputs = await Promise.all(files.map((file) => readFile(join(source, file))))
  return cachedInstallation('npm-clients', inputs, async (folder) => {
    for (const file of files) await cp(join(source, file), join(folder, file))
    const exactly = ['--ignore-workspace', '--frozen-lockfile', '--prefer-offline']
    // Their programs come as packages; no script has to fetch or build one.
    await run('npx', ['-y', 'pnpm@12.21.0', 'install', ...exactly, '--ignore-scripts'], {
      cwd: folder,
    })
  })
}

/** The libraries of the Java client. */
async function ensureLibraries(): Promise<string> {
  const pom = join(source, 'pom.xml')
  return cachedInstallation('java-clients', [await readFile(pom)], async (folder) => {
    const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`]
    await run('mvn', ['--quiet', '--batch-mode', '--file', pom, ...copy])
  })
}

/** @throws Error with all that the program has printed when it fails */
async function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const env = { ...process.env, ...options.env }
  const ending = promisify(execFile)(program, args, { ...options, env, maxBuffer: 2 ** 26 })
  const { stdout } = await ending.catch((error: unknown) => {
    const output = error as { readonly stdout: string; readonly stderr: string }
    const message = `${program} ${args.join(' ')} failed:\n${output.stdout}${output.stderr}`
    throw new Error(message, { cause: error })
  })
  return stdout
}
