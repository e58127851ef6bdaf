import { withJson, type ClientVerb } from '../verb/client-verb.ts'

/** `holdfast logout`. */
export const logout: ClientVerb = {
  command: 'logout',
  describe: 'Forget the name and the password',
  flags: [],
  options: withJson,
  run: async ({ json }) => (await import('./run-logout.ts')).runLogout(json === true),
}
