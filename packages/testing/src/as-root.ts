import { execFileSync } from 'node:child_process'

/** What this user runs so that root runs `command`. */
export function rootCommand(
  command: readonly string[],
): readonly [program: string, args: readonly string[]] {
  const [program = '', ...args] = process.getuid?.() === 0 ? command : ['sudo', '-n', ...command]
  return [program, args]
}

/** Runs `command` as root; needs root, or sudo without a password. */
export function asRoot(...command: readonly string[]): void {
  const [program, args] = rootCommand(command)
  try {
    execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  } catch (cause) {
    const remedy =
      'Mounting needs root, or sudo without a password, and a container that allows it; scripts/test --without-containers ' +
      'leaves out what it is needed for'
    throw new Error(`${command.join(' ')} failed: ${String(cause)}. ${remedy}`, { cause })
  }
}
