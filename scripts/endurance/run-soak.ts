/** The body of scripts/soak. */
import { randomInt } from 'node:crypto'
import { openDiskSite } from '../../packages/system-tests/test/endurance/soak/disk-site.ts'
import { startSoak, type Soak } from '../../packages/system-tests/test/endurance/soak/start-soak.ts'
import { showProgress } from './show-progress.ts'
import { soakArguments, soakHelp, type SoakArguments } from './soak-arguments.ts'

process.exitCode = await main()

async function main(): Promise<number> {
  try {
    const args = soakArguments(process.argv.slice(2), () => randomInt(2 ** 31))
    if (args) return await run(args)
    console.log(soakHelp)
    return 0
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    console.error(`soak: ${error.message}\nSee scripts/soak --help.`)
    return 2
  }
}

async function run({ minutes, seed, clients }: SoakArguments): Promise<number> {
  console.error(`soak: ${minutes} minutes, ${clients} clients, seed ${seed}`)
  const soak = startSoak({ seed, clients, durationMs: minutes * 60_000, openSite: openDiskSite })
  // The servers are processes of their own, and would stay.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => soak.interrupt())
  const endProgress = showProgress(process.stderr, () => soak.progress())
  const violation = await soak.ended.then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  )
  endProgress()
  report(soak)
  if (violation === undefined) return 0
  // What is no violation of the servers is one of this program, and its stack is wanted.
  console.error(violation.name === 'SoakViolation' ? violation.message : violation.stack)
  console.error(`Again with the same choices: scripts/soak --seed ${seed} --clients ${clients}`)
  return 1
}

function report(soak: Soak): void {
  for (const line of soak.summary()) console.log(line)
  console.log(soak.figures())
}
