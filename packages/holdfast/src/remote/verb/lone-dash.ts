/** No argument of a process can have a NUL. */
const placeholder = '\0-'

/** The command line with another word for `-`, which yargs loses among several words. */
export function hideDashes(args: readonly string[]): readonly string[] {
  return args.map((arg) => (arg === '-' ? placeholder : arg))
}

/** The text as it was given. */
export function showDashes(text: string): string {
  return text.replaceAll(placeholder, '-')
}
