import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openBrowser } from '../../packages/testing/src/browsers.ts'
import { drawTerminal, type TerminalOutput } from './draw-terminal.ts'
import { runInTerminal, type Terminal } from './record-terminal.ts'
import { type SampleServer, withServer } from './sample-server.ts'

interface Session extends Partial<Terminal> {
  readonly commands: readonly string[]
}

/** Commands in terminals of all kinds: wide and narrow, without colours, without UTF-8, with errors and questions. */
const sessions: Readonly<Record<string, Session>> = {
  list: { commands: ['holdfast ls -l', 'holdfast ls -l --sort size "*.jpg"'] },
  'list-40-columns': { columns: 40, commands: ['holdfast ls -l'] },
  'list-no-colour': { env: { NO_COLOR: '1' }, commands: ['holdfast ls -l', 'holdfast usage'] },
  'list-dumb': { env: { TERM: 'dumb' }, commands: ['holdfast ls -l'] },
  'list-latin': { env: { LANG: 'C', LC_ALL: 'C' }, commands: ['holdfast ls -l "ü*"'] },
  help: { rows: 60, commands: ['holdfast --help'] },
  'help-60-columns': { columns: 60, rows: 60, commands: ['holdfast get --help'] },
  transfer: {
    commands: [
      'holdfast put film.bin --limit-rate 20M',
      'holdfast get "Crew*" "photos*" missing -o new/',
      'holdfast stat film.bin --sha256',
    ],
  },
  'transfer-50-columns': { columns: 50, commands: ['holdfast get "*.jpg" -o narrow/'] },
  mistakes: {
    commands: [
      'holdfast gett a',
      'holdfast get',
      'holdfast put none.txt',
      'HOLDFAST_PASSWORD=wrong holdfast ls',
      'HOLDFAST_URL=http://127.0.0.1:9 holdfast du',
    ],
  },
  questions: { rows: 34, input: 'n\n', commands: ['holdfast rm "*"'] },
  sync: {
    rows: 34,
    commands: [
      'holdfast sync new --into crew --dry-run',
      'holdfast sync new --into crew',
      'holdfast pull copy --into crew',
      'holdfast verify copy --into crew',
      'holdfast rm "crew*" --dry-run',
    ],
  },
  pipe: {
    commands: ['holdfast ls --json | head -n 3', 'holdfast ls | wc -l', 'holdfast --version'],
  },
}

const prompt = (command: string) => `\x1b[32m~ $\x1b[0m ${command}\r\n`

/** The terminals that there are pictures of. */
export const terminalNames = Object.keys(sessions)

/** Records the sessions `only` with a real server, and draws the last screen of each, as PNG; resolves with the paths. Default: all. */
export async function recordTerminals(
  folder: string,
  only: readonly string[] = terminalNames,
): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true })
  await using browser = await openBrowser('chromium')
  const page = await browser.newPage()
  return await withServer(async (server) => {
    const stored = await server.addSamples()
    await writeFile(join(stored, 'über die Gezeiten 🌊.txt'), 'Ebbe und Flut\n')
    await writeFile(join(server.folder, 'film.bin'), Buffer.alloc(40_000_000, 'film'))
    const paths: string[] = []
    for (const [name, session] of Object.entries(sessions)) {
      if (!only.includes(name)) continue
      const { columns = 84, rows = 24 } = session
      const drawn = await drawTerminal(await outputOf(session, server), { columns, rows })
      await page.setContent(drawn.replaceAll(/<animate[^>]*>|<set [^>]*>/g, ''))
      const path = join(folder, `terminal-${name}.png`)
      await (await page.waitForSelector('svg'))?.screenshot({ path })
      paths.push(path)
    }
    return paths
  })
}

async function outputOf(
  { commands, columns = 84, rows = 24, ...rest }: Session,
  { folder, url }: SampleServer,
): Promise<readonly TerminalOutput[]> {
  const output: TerminalOutput[] = []
  const print = (text: string) => output.push({ time: output.length, text })
  for (const command of commands) {
    print(prompt(command))
    const { texts } = await runInTerminal(command, { folder, url, columns, rows, ...rest })
    const shown = texts.map(({ text }) => text).join('')
    print(shown.replaceAll(url, 'https://files.example'))
  }
  print('')
  return output
}
