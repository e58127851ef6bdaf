/** What others call the commands. */
const commands: Readonly<Record<string, string>> = {
  list: 'ls',
  dir: 'ls',
  delete: 'rm',
  remove: 'rm',
  del: 'rm',
  upload: 'put',
  send: 'put',
  push: 'put',
  download: 'get',
  fetch: 'get',
  pull: 'get',
  show: 'cat',
  info: 'stat',
  share: 'link',
  url: 'link',
  df: 'du',
  quota: 'du',
  mirror: 'sync',
  rsync: 'sync',
  start: 'serve',
  run: 'serve',
}

/** The command that a user means who writes `word`, which is none. */
export function commandFor(word: string): string | undefined {
  return Object.hasOwn(commands, word) ? commands[word] : undefined
}
