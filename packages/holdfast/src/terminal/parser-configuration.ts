/** How yargs reads the command line. */
export const parserConfiguration = {
  'duplicate-arguments-array': false,
  'parse-numbers': false,
  'parse-positional-numbers': false,
  'camel-case-expansion': false,
  'dot-notation': false,
  // yargs would read "-minio-secret-key x" as letters, and its error would show the secret.
  'short-option-groups': false,
  'boolean-negation': false,
  'populate--': true,
}

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
