import { withJson, type ClientVerb } from '../verb/client-verb.ts'

/** `holdfast du`. */
export const du: ClientVerb = {
  command: 'du',
  describe: 'Show how much is kept, and how much may be',
  flags: [],
  options: (yargs) =>
    withJson(yargs)
      .example('$0 du', 'files and bytes, with the limits that the server has for you')
      .example('$0 du --json', 'for a program'),
  run: async (argv) => (await import('./run-du.ts')).runDu(argv),
}
