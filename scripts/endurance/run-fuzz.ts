/** The body of scripts/fuzz. */
import { randomInt } from 'node:crypto'
import { allTargets } from '../../packages/system-tests/test/endurance/fuzz/all-targets.ts'
import {
  describeFinding,
  startFuzz,
} from '../../packages/system-tests/test/endurance/fuzz/start-fuzz.ts'
import { fuzzArguments, fuzzHelp, type FuzzArguments } from './fuzz-arguments.ts'
import { showProgress } from './show-progress.ts'

process.exitCode = await main()

async function main(): Promise<number> {
  const known = allTargets().map(({ name }) => name)
  try {
    const args = fuzzArguments(process.argv.slice(2), known, () => randomInt(2 ** 31))
    if (args) return await run(args)
    console.log(fuzzHelp(known))
    return 0
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    console.error(`fuzz: ${error.message}\nSee scripts/fuzz --help.`)
    return 2
  }
}

async function run({ runs, seed, targets, path }: FuzzArguments): Promise<number> {
  console.error(`fuzz: ${path === undefined ? `${runs} inputs` : 'one input'}, seed ${seed}`)
  const wanted = allTargets().filter(({ name }) => targets.includes(name))
  const fuzz = startFuzz({ targets: wanted, seed, runs, path })
  const endProgress = showProgress(process.stderr, () => fuzz.progress())
  const findings = await fuzz.ended
  endProgress()
  for (const line of fuzz.summary()) console.log(line)
  for (const finding of findings) console.log(`\n${describeFinding(finding)}\n`)
  console.log(`figures: fuzz: ${fuzz.figures()}`)
  return findings.length === 0 ? 0 : 1
}
