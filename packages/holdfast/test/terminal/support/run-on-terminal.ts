import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { holdfastProgram, until } from '@holdfast/testing'

interface TerminalOptions {
  readonly cwd?: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Runs `holdfast` on a terminal of its own, with answers to what it asks. */
export async function runOnTerminal(
  args: readonly string[],
  answers: readonly (readonly [question: string, answer: string])[],
  { cwd, env }: TerminalOptions,
) {
  const words = [process.execPath, holdfastProgram, ...args].map((word) => `'${word}'`)
  const child = spawn('script', ['-qec', words.join(' '), '/dev/null'], {
    cwd,
    env: { ...process.env, ...env },
  })
  let shown = ''
  child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()))
  const closed = once(child, 'close') as Promise<[number]>
  for (const [question, answer] of answers) {
    await until(
      () => `it asks "${question}"; it said ${shown}`,
      () => shown.includes(question),
    )
    child.stdin.write(answer)
  }
  const [code] = await closed
  return { code, shown }
}
