import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { repository } from './machine.ts'

export interface ReadmeRun {
  /** The number of the example, from 0. Default: the first. */
  readonly nth?: number
  /** Texts of the example, and their replacements, such as an address. */
  readonly replaced?: Readonly<Record<string, string>>
  /** Environment variables in addition to those of the test. */
  readonly env?: Readonly<Record<string, string>>
  /** The working directory. Default: an empty one. */
  readonly cwd?: string
}

/**
 * Runs a TypeScript example from the README beside the folder `tests`, and resolves with its output.
 *
 * @throws Error if there is no such example, if it lacks a text that is to be replaced, or if it fails
 */
export async function runReadme(
  tests: string,
  { nth = 0, replaced = {}, env = {}, cwd }: ReadmeRun = {},
): Promise<string> {
  const example = (await readmeExamples(tests))[nth]
  if (example === undefined) throw new Error(`The README has no example ${nth}`)
  return withExample(tests, replaceIn(example, 'The example', replaced), async (file) => {
    const options = { cwd: cwd ?? dirname(file), env: { ...process.env, ...env } }
    return (await promisify(execFile)(process.execPath, [file], options)).stdout
  })
}

/** The TypeScript examples of the README beside the folder `tests`, in order; with `title`, only those below that heading. */
export async function readmeExamples(tests: string, title = ''): Promise<readonly string[]> {
  const readme = await readFile(join(tests, '../README.md'), 'utf8')
  const section = title === '' ? readme : (readme.split(`\n## ${title}\n`)[1] ?? '')
  return [...section.matchAll(/```ts\n([^]*?)```/g)].map(([, code = '']) => code)
}

/** Writes an example to a file for the duration of `use`: inside the package, where the package's own name can be imported. */
export async function withExample<Result>(
  tests: string,
  code: string,
  use: (file: string) => Promise<Result>,
): Promise<Result> {
  const place = await mkdtemp(join(tests, '../.readme-'))
  try {
    const file = join(place, 'example.ts')
    await writeFile(file, code)
    return await use(file)
  } finally {
    await rm(place, { recursive: true })
  }
}

/** Makes the example listen on a free port, and print which. */
const listenAnywhere = `data:text/javascript,
import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function () {
  return listen.call(this, 0, '127.0.0.1', () => console.log(this.address().port))
}
`

/**
 * Runs the server in the first example of the README beside the folder `tests`, or the first below the heading `title`, for the duration
 * of `visit`.
 */
export async function withReadmeServer(
  tests: string,
  title: string,
  visit: (url: string) => Promise<void>,
): Promise<void> {
  const [example] = await readmeExamples(tests, title)
  if (example === undefined) throw new Error(`The README has no TypeScript below "${title}"`)
  await withExample(tests, example, async (file) => {
    const child = spawn(process.execPath, ['--import', encodeURI(listenAnywhere), file], {
      cwd: dirname(file),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const closed = once(child, 'close')
    try {
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
      const { value: port } = await lines.next()
      await visit(`http://127.0.0.1:${port}`)
    } finally {
      child.kill()
      await closed
    }
  })
}

/** The folder of the files that operators copy. */
export const deployFolder = join(repository, 'docs/deploy')

/** A file of docs/deploy, with the words of `replacements` in the place of others, each of which must occur in it. */
export function deployedFile(
  name: string,
  replacements: Readonly<Record<string, string>> = {},
): string {
  return replaceIn(
    readFileSync(join(deployFolder, name), 'utf8'),
    `docs/deploy/${name}`,
    replacements,
  )
}

function replaceIn(
  document: string,
  what: string,
  replacements: Readonly<Record<string, string>>,
): string {
  let text = document
  for (const [from, to] of Object.entries(replacements)) {
    if (!text.includes(from)) throw new Error(`${what} does not contain ${from}`)
    text = text.replaceAll(from, to)
  }
  return text
}
