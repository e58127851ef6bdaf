import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createCli, serverCommands } from '../../packages/holdfast/src/create-cli.ts'
import { customersCommandNames } from '../../packages/holdfast/src/customers.ts'
import { verbNames, withPlainWords } from '../../packages/holdfast/src/remote/client-verbs.ts'
import { parseHelp, type HelpPage } from './parse-help.ts'
import { renderManual } from './render-manual.ts'

/** The manual page of `holdfast`, from what yargs knows of its commands. */
export async function manPage(): Promise<string> {
  const manifest = join(import.meta.dirname, '../../packages/holdfast/package.json')
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string }
  const server = serverCommands.flatMap((name) =>
    name === 'customers' ? customersCommandNames.map((each) => [name, each]) : [[name]],
  )
  server.push(['versions', 'purge'])
  const client = verbNames.map((name) => [name])
  return renderManual({
    version,
    program: await helpOf([]),
    commands: [
      ...(await pagesOf('Client commands', client)),
      ...(await pagesOf('Server commands', server)),
    ],
  })
}

function pagesOf(group: string, commands: readonly (readonly string[])[]) {
  return Promise.all(commands.map(async (words) => ({ group, page: await helpOf(words) })))
}

/** Without `--help` among the words lines are not broken. */
async function helpOf(words: readonly string[]): Promise<HelpPage> {
  const cli = createCli(words, { run: () => Promise.resolve(), warn: () => {} })
  return parseHelp(withPlainWords(await cli.getHelp()))
}
