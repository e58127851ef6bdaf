import { CommandError } from '../errors/command-error.ts'
import { exitCodes } from '../errors/exit-codes.ts'

/** What Windows takes for a device, or cannot have in a name. */
const notOnWindows = /[<>:"/\\|?*]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

/**
 * What the file `name` of a server is called in a directory of this machine: the same.
 *
 * @throws CommandError for a name that leads elsewhere, whatever the server says
 */
export function localName(name: string, platform: NodeJS.Platform = process.platform): string {
  const leadsElsewhere = name === '' || name === '.' || name === '..' || /[/\0]/.test(name)
  if (!leadsElsewhere && !(platform === 'win32' && notOnWindows.test(name))) return name
  throw new CommandError(
    exitCodes.failed,
    'No file of this machine can have that name; say one with -o.',
  )
}
