import { isHoldfastError, type Usage } from '@holdfast/client'
import { shown } from '../../terminal/print.ts'
import { withRemote } from '../session/with-remote.ts'
import { type ClientVerb, withJson } from '../verb/client-verb.ts'

/** `holdfast whoami`. */
export const whoami: ClientVerb = {
  command: 'whoami',
  describe: 'Show the server, the name and what it may do',
  flags: [],
  options: (yargs) =>
    withJson(yargs)
      .example('$0 whoami', '')
      .epilog(
        'It asks the server, so that it also shows whether the login is still good. A login that may not list does not learn what else it may do.',
      ),
  run: (argv) =>
    withRemote(argv, async ({ client, login: { url, name, profile }, report, signal }) => {
      const may = await rightsOf(() => client.usage({ signal }))
      const rights =
        may === 'unknown' ? 'not list' : `do ${may === undefined ? 'everything' : 'this'}`
      const list = Array.isArray(may) ? `: ${may.join(', ')}` : ''
      const fields = {
        url,
        name,
        ...(profile !== undefined && { profile }),
        may: may === 'unknown' ? null : (may ?? 'full'),
      }
      await report.result(
        fields,
        `${shown(name)} at ${shown(url)}${profile === undefined ? '' : ` (profile ${profile})`} may ${rights}${list}`,
      )
    }),
}

/** Those that the server names; `undefined` for all; `unknown` for a login that may not ask. */
async function rightsOf(usage: () => Promise<Usage>): Promise<Usage['may'] | 'unknown'> {
  try {
    return (await usage()).may
  } catch (error) {
    if (isHoldfastError(error, 'not-allowed')) return 'unknown'
    throw error
  }
}
