import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'

/**
 * Runs `script` in `folder`, as root on a copy of this machine, where a script stands for systemctl; resolves with what it prints.
 * The copy has the folder as `/root/place/origin`, and the rest of `/root/place` for itself.
 */
export async function runOnCopyOfMachine(folder: string, script: string): Promise<string> {
  const privileged = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  const unshare = ['unshare', '--mount', '--propagation', 'slave', 'bash']
  const machine = join(import.meta.dirname, 'machine-overlay.sh')
  const systemctl = join(import.meta.dirname, 'stand-in-systemctl.sh')
  const command = [...privileged, ...unshare, machine, process.execPath, folder, systemctl]
  const [program = '', ...args] = command
  const child = spawn(program, args, { stdio: 'pipe' })
  child.stdin.end(script)
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ])
  // The end comes first, since a summary shows the beginning.
  const end = stderr.trimEnd().split('\n').slice(-8).join('\n')
  expect(code, `${end}\n\n${stdout}\n${stderr}`).to.equal(0)
  return stdout
}
