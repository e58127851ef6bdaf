import { withJson, type ClientVerb } from '../verb/client-verb.ts'

/** `holdfast login URL`. */
export const login: ClientVerb = {
  command: 'login [url]',
  describe: 'Keep the name and the password for a server',
  flags: ['name', 'password-stdin'],
  options: (yargs) =>
    withJson(yargs)
      .positional('url', { type: 'string', describe: 'Such as https://files.example.com' })
      .option('name', {
        type: 'string',
        requiresArg: true,
        describe: 'The customer; asked for on the terminal without it',
      })
      .option('password-stdin', {
        type: 'boolean',
        default: false,
        defaultDescription: 'no',
        describe: 'Take the password from standard input instead of the terminal',
      })
      .example('$0 login https://files.example.com', 'asks for name and password')
      .example(
        'pass show files | $0 login https://files.example.com --name alice --password-stdin',
        '',
      )
      .epilog(
        'The server is asked first whether it takes them. They are kept in $XDG_CONFIG_HOME/holdfast/profile.json, which only you may read. Instead of a login, HOLDFAST_URL, HOLDFAST_NAME and HOLDFAST_PASSWORD (or HOLDFAST_PASSWORD_FILE) may be set.',
      ),
  run: async (argv) => (await import('./run-login.ts')).runLogin(argv),
}
