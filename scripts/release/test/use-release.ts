import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { findFreePort } from '../../../packages/testing/src/machine.ts'
import { installPageScript } from './install-page-script.ts'
import { copyRepository, type RepositoryCopy } from './repository-copy.ts'
import { runOnCopyOfMachine } from './run-on-copy-of-machine.ts'

/** A release of the present sources, which the commands of docs/install.md have made on a copy of this machine. */
export interface Release {
  readonly version: string
  /** When its commit was made. */
  readonly date: Date
  /** What it was made of. */
  readonly repository: RepositoryCopy
  /** The folder with its files. */
  readonly out: string
  /** An empty folder for each who calls. */
  newFolder(): Promise<string>
  /** What the commands printed after the line `== TITLE`, up to the next such line. */
  outputOf(title: string): string
  /** All that they printed. */
  readonly output: string
}

/** Not final, since Debian orders such versions otherwise than npm does. */
const version = '9.8.7-rc.1'
const date = new Date('2026-01-02T03:04:05Z')

/** Makes a release once, before the tests of the suite that calls this; it is there while they run. */
export function useRelease(): Release {
  let place = ''
  let repository: RepositoryCopy
  let output = ''

  before('makes a release, and runs every command of docs/install.md', async function () {
    this.timeout(900_000)
    place = await mkdtemp(join(tmpdir(), 'holdfast-released-'))
    repository = await copyRepository()
    expect((await repository.release('--set', version)).code).to.equal(0)
    await writeChanges(join(repository.folder, 'CHANGELOG.md'))
    await repository.commit(date)
    output = await runOnCopyOfMachine(
      repository.folder,
      installPageScript(version, await findFreePort()),
    )
  })
  after(async () => {
    await repository.remove()
    await rm(place, { recursive: true, force: true })
  })

  return {
    version,
    date,
    get repository() {
      return repository
    },
    get out() {
      return join(repository.folder, 'release', version)
    },
    get output() {
      return output
    },
    newFolder: () => mkdtemp(join(place, 'folder-')),
    outputOf: (title) => output.split(`== ${title}\n`)[1]?.split('\n== ')[0] ?? '',
  }
}

async function writeChanges(changelog: string): Promise<void> {
  const text = await readFile(changelog, 'utf8')
  const section = `## ${version} - 2026-01-02\n\n- Tried\n\n`
  await writeFile(changelog, text.replace(/^## /m, `${section}## `))
}
