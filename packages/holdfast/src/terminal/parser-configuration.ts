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

/**
 * Words that yargs mistreats: it loses `-` among several words, and for a last word `help` it shows the help instead of running the
 * command.
 */
const words = ['-', 'help']

/** A NUL, which no argument of a process can contain. */
const mark = '\0'

/** Hides these words from yargs by a mark before each. */
export function hideWords(args: readonly string[]): readonly string[] {
  return args.map((arg) => (words.includes(arg) ? `${mark}${arg}` : arg))
}

/** Removes the marks, which gives the original text. */
export function showWords(text: string): string {
  return text.replaceAll(mark, '')
}
