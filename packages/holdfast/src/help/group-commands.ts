/**
 * A help text of yargs with the commands in two groups. Those of the server come first; the first of the client is the one of the name
 * `firstOfClient`.
 */
export function groupCommands(help: string, program: string, firstOfClient: string): string {
  const begin = `\n  ${program} ${firstOfClient} `
  return help
    .replace('\nCommands:\n', '\nServer commands:\n')
    .replace(begin, () => `\n\nClient commands:${begin}`)
}
