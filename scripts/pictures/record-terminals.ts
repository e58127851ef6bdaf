import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openBrowser } from '../../packages/testing/src/browsers.ts'
import { startHoldfast } from '../../packages/testing/src/holdfast.ts'
import { createSite } from '../../packages/testing/src/site.ts'
import { drawTerminal } from './draw-terminal.ts'
import { runInTerminal, type Terminal } from './record-terminal.ts'
import { writeSamples } from './sample-files.ts'

const customers = `customers:
  - name: anna
    password: sesame
    quota: 1GB
`

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

/** Records each session with a real server, and draws its last screen, as PNG; resolves with the paths. */
export async function recordTerminals(folder: string): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true })
  const site = await createSite()
  await using browser = await openBrowser('chromium')
  try {
    await site.write('customers.yaml', customers)
    const server = await startHoldfast(['--keep-replaced', '30d'], { cwd: site.path })
    try {
      const stored = join(site.path, 'data/files/anna')
      await writeSamples(stored)
      await writeFile(join(stored, 'über die Gezeiten 🌊.txt'), 'Ebbe und Flut\n')
      await writeFile(join(site.path, 'film.bin'), Buffer.alloc(40_000_000, 'film'))
      const page = await browser.newPage()
      const paths: string[] = []
      for (const [name, { commands, columns = 84, rows = 24, ...rest }] of Object.entries(
        sessions,
      )) {
        const output = []
        for (const command of commands) {
          output.push({ time: output.length, text: prompt(command) })
          const terminal = { folder: site.path, url: server.url, columns, rows, ...rest }
          const { texts } = await runInTerminal(command, terminal)
          const shown = texts.map(({ text }) => text).join('')
          output.push({
            time: output.length,
            text: shown.replaceAll(server.url, 'https://files.example'),
          })
        }
        output.push({ time: output.length + 1000, text: '' })
        const drawn = await drawTerminal(output, { columns, rows })
        await page.setContent(drawn.replaceAll(/<animate[^>]*>|<set [^>]*>/g, ''))
        const path = join(folder, `terminal-${name}.png`)
        await (await page.waitForSelector('svg'))?.screenshot({ path })
        paths.push(path)
      }
      return paths
    } finally {
      await server.kill()
    }
  } finally {
    await site.remove()
  }
}
