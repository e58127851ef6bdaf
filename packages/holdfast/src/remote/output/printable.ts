import { visible } from '@holdfast/server/visible'

/** The text without what a terminal would obey, hide or turn round: names and messages come from a server. */
export function printable(text: string): string {
  return visible(text)
}
