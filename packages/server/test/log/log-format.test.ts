import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { startSilentServer } from './silent-server.ts'

describe('The format of the log', () => {
  /** What a server writes to a terminal, or into a file, while it starts and is asked for a list. */
  async function logOf(output: 'terminal' | 'file', ...flags: readonly string[]): Promise<string> {
    const lineOf = (serve: string) =>
      output === 'terminal'
        ? `script -qfc 'env -u NO_COLOR TERM=xterm ${serve}' log`
        : `${serve} > log`
    await using server = await startSilentServer(lineOf, flags)
    await server.ask('/list')
    const text = () => readFileSync(join(server.site.path, 'log'), 'utf8')
    await until('the request is logged', () => text().includes('/list'))
    return text()
  }

  it('is for people on a terminal, with colours', async () => {
    const log = await logOf('terminal')
    expect(log).to.match(
      /\d\d:\d\d:\d\d\.\d{3} \u001b\[32mINFO \u001b\[39m holdfast listens on http/,
    )
    expect(log).to.match(/ GET \/list 400 [\d.]+ms /)
    expect(log).not.to.include('{"level"')
  })

  it('is JSON elsewhere', async () => {
    const lines = (await logOf('file')).trim().split('\n')
    const messages = lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
    expect(messages).to.include('request')
  })

  it('is as --log-format says', async () => {
    expect(await logOf('terminal', '--log-format', 'json')).to.include('{"level":30,')
    expect(await logOf('file', '--log-format', 'pretty')).to.match(
      /^\d{4}-[^\u001b]* INFO [^\u001b]*$/,
    )
  })
})
