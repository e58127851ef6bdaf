import { writeBytes } from '../../terminal/print.ts'
import { expandNames } from '../names/expand-names.ts'
import { forEachName } from '../names/for-each-name.ts'
import { withRemote } from '../session/with-remote.ts'
import {
  type ClientVerb,
  type VerbArguments,
  namesIn,
  textIn,
  withNames,
} from '../verb/client-verb.ts'

/** `holdfast cat NAME…`. */
export const cat: ClientVerb = {
  command: 'cat [names..]',
  describe: 'Print the content of files',
  flags: [],
  options: (yargs) =>
    withNames(yargs, 'Files on the server, or patterns such as "*.log"').example(
      '$0 cat notes.txt | less',
      '',
    ),
  run: runCat,
}

/** Prints files, or for `get` an earlier version of one, one after the other; resolves with the exit code. */
export function runCat(argv: VerbArguments): Promise<number> {
  const version = textIn(argv, 'version')
  return withRemote(argv, async (remote) => {
    const names = expandNames(namesIn(argv), argv, remote)
    await forEachName(names, String, { ...remote, concurrency: 1 }, async (name, signal) => {
      const { body } = await remote.client.download(name, { version, reuseMemory: true, signal })
      for await (const chunk of body) await writeBytes(chunk)
    })
  })
}
