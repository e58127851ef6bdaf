import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

// What the scripts use of every system.
const system =
  'bash cat chmod cksum comm cp dirname grep mktemp readlink rm sed setsid sleep sort tail uname xargs'

/** What one run of scripts/test did. */
export interface Outcome {
  code: number | null
  stdout: string
  stderr: string
}

/** A machine on which scripts/test can be run: a folder, with a clone in it, and no programs but those that it is given. */
export interface Machine {
  /** Gives the machine a program, in the words of bash. */
  install(program: string, body: string): Promise<void>
  uninstall(program: string): Promise<void>
  /** Starts scripts/test. */
  start(args?: readonly string[], environment?: Record<string, string>): RunningTest
  /** What a program has left in `$NOTES/<name>`; empty where there is nothing. */
  note(name: string): Promise<string>
  /** Makes `$NOTES/<name>`, for programs that look. */
  leaveNote(name: string): Promise<void>
  /** Makes an empty file in the clone, in a folder that is there. */
  leaveFile(path: string): Promise<void>
  remove(): Promise<void>
}

export interface RunningTest {
  readonly process: ChildProcess
  readonly outcome: Promise<Outcome>
}

/**
 * Makes a machine whose administrator can (`isRoot`) or cannot install programs. Its Node.js says that the tests need
 * containers, and that one of them passes.
 */
export async function makeMachine(isRoot = true): Promise<Machine> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-machine-'))
  const [bin, notes, clone] = [join(folder, 'bin'), join(folder, 'notes'), join(folder, 'clone')]
  for (const made of [bin, notes]) await mkdir(made)
  await cloneScripts(clone, isRoot)
  const install = async (path: string, body: string) => {
    await writeFile(path, `#!/bin/bash\n${body}\n`)
    await chmod(path, 0o755)
  }
  for (const path of await (systemPaths ??= findSystem())) {
    await symlink(path, join(bin, basename(path)))
  }
  for (const program of ['curl', 'openssl', 'nginx', 'haproxy', 'chromium', 'firefox-esr']) {
    await install(join(bin, program), '')
  }
  await install(join(clone, 'node_modules/.bin/node'), fakeNode)
  const stamp = await (installStamp ??= fingerprintOf(clone))
  await writeFile(join(clone, 'node_modules/.holdfast-installed'), stamp)
  return {
    install: (program, body) => install(join(bin, program), body),
    uninstall: (program) => rm(join(bin, program)),
    start: (args = [], environment = {}) => {
      const env = { PATH: bin, NOTES: notes, TMPDIR: folder, BIN: bin, ...environment }
      return startTest(join(clone, 'scripts/test'), args, env)
    },
    note: (name) => readFile(join(notes, name), 'utf8').catch(() => ''),
    leaveNote: (name) => writeFile(join(notes, name), ''),
    leaveFile: (path) => writeFile(join(clone, path), ''),
    remove: () => rm(folder, { recursive: true }),
  }
}

const fakeNode = `case $1 in
  *print-needs.ts) echo " \${NEEDS:-containers proxies browsers} " ;;
  *run-checks.ts) eval "\${CHECKS:-echo '1 passed, 0 failed'}" ;;
esac`

async function cloneScripts(clone: string, isRoot: boolean): Promise<void> {
  const images = ['minio-image', 'mc-image'].map((folder) => `packages/testing/${folder}`)
  const parts = ['test', 'test-arguments.sh', 'test-options.txt', 'prepare.sh', 'programs.sh']
  for (const part of [...parts.map((name) => `scripts/${name}`), ...images]) {
    await cp(join(root, part), join(clone, part), { recursive: true })
  }
  for (const part of ['engine.sh', 'minio-image.sh', 'local-images.sh', 's3-servers.sh']) {
    await cp(join(root, 'scripts/containers', part), join(clone, 'scripts/containers', part))
  }
  await mkdir(join(clone, 'node_modules/.bin'), { recursive: true })
  for (const manifest of ['package.json', 'pnpm-workspace.yaml', 'pnpm-lock.yaml']) {
    await cp(join(root, manifest), join(clone, manifest))
  }
  await cp(join(root, 'packages/core/package.json'), join(clone, 'packages/core/package.json'))
  const test = join(clone, 'scripts/test')
  // The programs of the system that runs this test, a dockerd among them, must stay out of reach.
  await writeFile(test, (await readFile(test, 'utf8')).replace(/^PATH=.*$/m, ''))
  const programs = join(clone, 'scripts/programs.sh')
  const text = await readFile(programs, 'utf8')
  // Whoever runs this test, and never the system's own policy.
  const overrides = `can_install() { ${isRoot ? 'true' : 'false'}; }\npolicy_file=$NOTES/policy\n`
  await writeFile(programs, text + overrides)
}

// The same for each machine, so found once.
let systemPaths: Promise<readonly string[]> | undefined
let installStamp: Promise<string> | undefined

/** The paths of the programs that the scripts use of every system. */
async function findSystem(): Promise<readonly string[]> {
  const { stdout } = await run('bash', ['-c', `command -v ${system}`])
  const paths = stdout.trimEnd().split('\n')
  if (paths.length !== system.split(' ').length) throw new Error(`Not all are there: ${stdout}`)
  return paths
}

/** What stands in the stamp of a clone whose dependencies are installed. */
async function fingerprintOf(clone: string): Promise<string> {
  const script = 'source scripts/prepare.sh && install_fingerprint'
  const { stdout } = await run('bash', ['-c', script], { cwd: clone })
  return stdout
}

function startTest(
  script: string,
  args: readonly string[],
  env: Record<string, string>,
): RunningTest {
  const child = spawn(script, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const outcome = once(child, 'close').then(() => ({ code: child.exitCode, stdout, stderr }))
  return { process: child, outcome }
}
