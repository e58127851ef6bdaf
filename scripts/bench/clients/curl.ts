import type { BenchRequest, RunningSubject } from '../subjects/subject.ts'
import type { Client, ClientFiles } from './client.ts'

/** A shell that starts curl for each file, as scripts do. */
export function curlLoop(program: string, server: RunningSubject): Client {
  const loop = (request: BenchRequest, own: string, { names }: ClientFiles) => {
    const options = optionsFor(request).map((option) => `'${option}'`)
    const curl = `${program} ${options.join(' ')} ${own} ${urlOf(server, request)}"$name"`
    return { command: 'sh', args: ['-c', `for name do ${curl} || exit; done`, 'sh', ...names] }
  }
  return {
    name: 'curl',
    server,
    most: 1000,
    put: (files) => loop(uploadTo(server), '--upload-file "$name"', files),
    get: (files) => loop(server.get(''), '--output "$name"', files),
  }
}

/** One curl for all files, several at once; their names end with numbers that follow each other. */
export function parallelCurl(program: string, server: RunningSubject): Client {
  const curl = (request: BenchRequest, own: readonly string[], name: string) => {
    const url = urlOf(server, request) + name
    return { command: program, args: ['--parallel', ...optionsFor(request), ...own, url] }
  }
  return {
    name: 'curl --parallel',
    server,
    needsMany: true,
    put: (files) => curl(uploadTo(server), ['--upload-file', rangeOf(files)], ''),
    get: (files) => curl(server.get(''), ['--remote-name-all'], rangeOf(files)),
  }
}

/** The pattern of which curl makes the names. */
function rangeOf({ names, prefix }: ClientFiles): string {
  const ends = [names[0], names.at(-1)].map((name = '') => name.slice(prefix.length))
  return `${prefix}[${ends.join('-')}]`
}

function uploadTo({ put, name }: RunningSubject): BenchRequest {
  if (put === undefined) throw new Error(`${name} takes no PUT`)
  return put('')
}

const urlOf = ({ port }: RunningSubject, { path }: BenchRequest) =>
  `http://127.0.0.1:${port}${path}`

function optionsFor({ headers = {} }: BenchRequest): readonly string[] {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return ['--fail', '--silent', '--show-error', ...lines.flatMap((line) => ['--header', line])]
}
