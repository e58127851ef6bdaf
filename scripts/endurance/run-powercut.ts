/** The body of scripts/powercut. */
import { randomInt } from 'node:crypto'
import type { FileSystem } from '../../packages/system-tests/test/power-cut/file-systems.ts'
import { missingForPowerCuts } from '../../packages/system-tests/test/power-cut/missing-for-power-cuts.ts'
import {
  startPowerCuts,
  type PowerCutCounts,
  type Violation,
} from '../../packages/system-tests/test/power-cut/start-power-cuts.ts'
import { powercutArguments, powercutHelp, type PowercutArguments } from './powercut-arguments.ts'
import { showProgress } from './show-progress.ts'

/** Cuts of one disk, before there is a new one. */
const cutsPerDisk = 25

const keys = ['cuts', 'acknowledged', 'judged', 'uploads', 'cached'] as const

const stopping = new AbortController()

process.exitCode = await main()

async function main(): Promise<number> {
  try {
    const args = powercutArguments(process.argv.slice(2), () => randomInt(2 ** 31))
    if (args) return await run(args)
    console.log(powercutHelp)
    return 0
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    console.error(`powercut: ${error.message}\nSee scripts/powercut --help.`)
    return 2
  }
}

async function run({ cuts, seed, fileSystems, keepsReplaced }: PowercutArguments): Promise<number> {
  console.error(`powercut: ${cuts} cuts on ${fileSystems.join(', ')}, seed ${seed}`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
  for (const [index, fileSystem] of fileSystems.entries()) {
    const share = Math.floor((cuts + index) / fileSystems.length)
    const violations = await cutOn(fileSystem, share, { seed, keepsReplaced })
    if (violations.length === 0) continue
    for (const { damage, description } of violations) console.error(`${damage}: ${description}`)
    const again = `scripts/powercut --cuts ${cuts} --seed ${seed} --file-system ${fileSystem}${keepsReplaced ? ' --keep' : ''}`
    console.error(`Again with the same choices: ${again}`)
    return 1
  }
  return 0
}

async function cutOn(
  fileSystem: FileSystem,
  cuts: number,
  { seed, keepsReplaced }: Pick<PowercutArguments, 'seed' | 'keepsReplaced'>,
): Promise<readonly Violation[]> {
  const missing = missingForPowerCuts(fileSystem)
  if (missing !== undefined) throw new RangeError(`${fileSystem}: ${missing}.`)
  const sum = { cuts: 0, acknowledged: 0, judged: 0, uploads: 0, cached: 0 }
  let before = sum
  const add = (counts: PowerCutCounts) => {
    for (const key of keys) sum[key] = before[key] + counts[key]
  }
  const line = () =>
    `${fileSystem}: ${sum.cuts} of ${cuts} cuts, ${sum.acknowledged} operations acknowledged, ` +
    `${sum.judged} names and ${sum.uploads} uploads in pieces judged, ${sum.cached} blocks in the cache`
  const endProgress = showProgress(process.stderr, line)
  try {
    while (sum.cuts < cuts && !stopping.signal.aborted) {
      before = { ...sum }
      const share = Math.min(cutsPerDisk, cuts - sum.cuts)
      const options = { seed: (seed + sum.cuts) % 2 ** 31, cuts: share, fileSystem, keepsReplaced }
      const { signal } = stopping
      const { violations } = await startPowerCuts({ ...options, onCut: add, signal })
      if (violations.length > 0) return violations
    }
    return []
  } finally {
    endProgress()
    console.log(line())
  }
}
