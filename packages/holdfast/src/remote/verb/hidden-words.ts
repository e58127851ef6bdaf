/** What yargs does not take as words: it loses `-` among several, and shows the help in place of running a command whose last word is `help`. */
const words = ['-', 'help']

/** No argument of a process can have a NUL. */
const mark = '\0'

/** The command line, in which yargs does not recognize these words. */
export function hideWords(args: readonly string[]): readonly string[] {
  return args.map((arg) => (words.includes(arg) ? `${mark}${arg}` : arg))
}

/** The text as it was given. */
export function showWords(text: string): string {
  return text.replaceAll(mark, '')
}
