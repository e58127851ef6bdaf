import { visible } from '@holdfast/server/visible'

/**
 * A name as standard output takes it: as it is for programs; on a terminal without what the terminal would obey, hide or turn round.
 */
export function shown(name: string): string {
  return process.stdout.isTTY ? visible(name) : name
}
