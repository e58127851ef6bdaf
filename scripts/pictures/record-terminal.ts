import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { holdfastProgram } from '../../packages/testing/src/holdfast.ts'
import { drawTerminal, type TerminalOutput } from './draw-terminal.ts'
import { withServer } from './sample-server.ts'

/** The terminal's size, in characters. */
export const terminalSize = { columns: 84, rows: 24 }

/** What is typed, as a person would. */
const commands = [
  'holdfast sync photos --into photos',
  'holdfast put report.pdf',
  'holdfast ls -l',
  'holdfast rm report.pdf',
  'holdfast restore report.pdf',
  'holdfast link report.pdf --expires-in 7d',
  'holdfast pull copy --into photos',
  'holdfast verify copy --into photos',
] as const

/** In milliseconds: a letter, the time to read what a command has printed, and the longest pause in its output. */
const pace = { letter: 45, reading: 1_700, end: 4_000, longestPause: 600 }

const prompt = '\x1b[32m~ $\x1b[0m '

/** Records the commands in a real terminal, of a real server, as an animated picture; resolves with its path. */
export async function recordTerminal(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  const output = await withServer(async (server) => {
    await writeLocalFiles(server.folder)
    return runCommands(server.folder, server.url)
  })
  const path = join(folder, 'terminal.svg')
  await writeFile(path, await drawTerminal(output, terminalSize))
  return path
}

async function writeLocalFiles(folder: string): Promise<void> {
  const photos = [
    ['cliffs at noon.jpg', 384_120],
    ['lighthouse.jpg', 412_048],
    ['under sail.jpg', 531_190],
  ] as const
  await mkdir(join(folder, 'photos'))
  for (const [name, size] of photos) {
    await writeFile(join(folder, 'photos', name), Buffer.alloc(size, name))
  }
  await writeFile(join(folder, 'report.pdf'), Buffer.alloc(48_213, '%PDF-1.7\n'))
}

async function runCommands(folder: string, url: string): Promise<readonly TerminalOutput[]> {
  const output: TerminalOutput[] = []
  let time = 500
  const print = (text: string) => output.push({ time, text })
  for (const command of commands) {
    print(prompt)
    for (const letter of command) {
      time += pace.letter
      print(letter)
    }
    time += 300
    print('\r\n')
    const { texts, code } = await runInTerminal(command, { folder, url, ...terminalSize })
    if (code !== 0) throw new Error(`"${command}" ended with ${code}`)
    for (const { pauseMs, text } of texts) {
      time += Math.min(pauseMs, pace.longestPause)
      // Whoever looks would take the port of a test for that of a server.
      print(text.replaceAll(url, 'https://files.example'))
    }
    time += pace.reading
  }
  print(prompt)
  time += pace.end
  print('')
  return output
}

interface TimedText {
  readonly pauseMs: number
  readonly text: string
}

/** A terminal, and the server that the command knows. */
export interface Terminal {
  /** Where the command runs. */
  readonly folder: string
  readonly url: string
  readonly columns: number
  readonly rows: number
  /** Variables besides the usual ones. */
  readonly env?: Readonly<Record<string, string>>
  /** What is typed meanwhile. */
  readonly input?: string
}

/** Runs a command in a terminal, by script(1) of util-linux, which notes when it wrote what. */
export async function runInTerminal(
  command: string,
  { folder, url, columns, rows, env = {}, input = '' }: Terminal,
): Promise<{ readonly texts: readonly TimedText[]; readonly code: number | null }> {
  const [log, timing] = [join(folder, 'terminal.log'), join(folder, 'terminal.timing')]
  const shell = `stty cols ${columns} rows ${rows}; holdfast() { "$NODE" "$PROGRAM" "$@"; }; ${command}`
  const variables = {
    PATH: process.env['PATH'],
    HOME: folder,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    NODE: process.execPath,
    PROGRAM: holdfastProgram,
    HOLDFAST_URL: url,
    HOLDFAST_NAME: 'anna',
    HOLDFAST_PASSWORD: 'sesame',
    ...env,
  }
  const args = ['--quiet', '--flush', '--return', '--log-out', log, '--log-timing', timing]
  const child = spawn('script', [...args, '--logging-format', 'advanced', '--command', shell], {
    cwd: folder,
    env: { ...variables, SHELL: '/bin/bash' },
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  // The command may end before it has read this.
  child.stdin.on('error', () => {}).write(input)
  const [code] = (await once(child, 'close')) as [number | null]
  return { texts: parseTiming(await readFile(log), await readFile(timing, 'utf8')), code }
}

/** Takes the log of script(1) apart by its times, without the line that says how it began. */
function parseTiming(log: Buffer, timing: string): readonly TimedText[] {
  const decoder = new TextDecoder()
  let position = log.indexOf('\n') + 1
  let pauseMs = 0
  const texts: TimedText[] = []
  for (const line of timing.split('\n')) {
    const [kind, seconds, length] = line.split(' ')
    pauseMs += Number(seconds ?? 0) * 1000
    if (kind !== 'O') continue
    const end = position + Number(length)
    texts.push({ pauseMs, text: decoder.decode(log.subarray(position, end), { stream: true }) })
    position = end
    pauseMs = 0
  }
  return texts
}
