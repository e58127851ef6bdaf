import { createRequire } from 'node:module'

/** A program other than Node.js that runs JavaScript and TypeScript. */
export interface Runtime {
  readonly name: string
  /** The path of the program. Throws where it is not installed. */
  readonly find: () => string
  /** What comes before the path of the script; the contract measures memory, and collects garbage for that. */
  readonly options: readonly string[]
}

const { platform, arch } = process
const libc = platform === 'linux' ? '-glibc' : ''

/** Both as packages of npm bring them: each has a package for the program itself, by system and processor. */
export const runtimes: readonly Runtime[] = [
  {
    name: 'Bun',
    find: () =>
      programIn('bun', `@oven/bun-${platform}-${arch.replace('arm64', 'aarch64')}/bin/bun`),
    options: ['--expose-gc'],
  },
  {
    name: 'Deno',
    find: () => programIn('deno', `@deno/${platform}-${arch}${libc}/deno`),
    options: ['run', '--allow-all', '--v8-flags=--expose-gc'],
  },
]

function programIn(name: string, path: string): string {
  const beside = createRequire(import.meta.url).resolve(`${name}/package.json`)
  return createRequire(beside).resolve(path)
}
