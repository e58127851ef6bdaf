/** The body of scripts/bench/run. */
import { join, resolve } from 'node:path'
import { benchArguments, benchHelp, type BenchArguments } from './bench-arguments.ts'
import { commitOf, describeGenerator, describeMachine } from './describe-machine.ts'
import { measureScenario, type MeasureOptions } from './measure-scenario.ts'
import { printed } from './report/print-rows.ts'
import { writeDocument } from './report/write-document.ts'
import { allScenarios } from './scenarios/all-scenarios.ts'
import { createHoldfast } from './subjects/holdfast.ts'

const root = join(import.meta.dirname, '../..')

process.exitCode = await main()

async function main(): Promise<number> {
  try {
    const known = allScenarios.map(({ name }) => name)
    return await run(benchArguments(process.argv.slice(2), known))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    console.error(`bench: ${error.message}\nSee scripts/bench/run --help.`)
    return 2
  }
}

async function run(args: BenchArguments): Promise<number> {
  if (args.instead === 'help') console.log(benchHelp)
  else if (args.instead === 'list') {
    for (const { name, title } of allScenarios) console.log(`${name.padEnd(20)} ${title}`)
  } else if (args.instead === undefined) return measureAll(args)
  else if (args.out !== undefined) await writeDocument(args.out, allScenarios, [])
  return 0
}

/** Measures what is wanted; what has been measured is written, whatever becomes of the rest. */
async function measureAll(args: BenchArguments): Promise<number> {
  const origin = await describeOrigin()
  const interrupted = interruption()
  const failed: string[] = []
  for (const scenario of allScenarios.filter(({ name }) => args.scenarios.includes(name))) {
    const measuredAt = new Date().toISOString()
    try {
      const measured = await measureScenario(scenario, measureOptions(args, interrupted))
      console.log(printed(scenario, measured))
      const result = { scenario: scenario.name, measuredAt, ...origin, ...measured }
      if (args.out !== undefined) await writeDocument(args.out, allScenarios, [result])
    } catch (error) {
      if (interrupted.aborted) return process.exit(130)
      console.error(error)
      failed.push(scenario.name)
    }
  }
  if (failed.length > 0) console.error(`\nbench: failed: ${failed.join(', ')}`)
  return failed.length > 0 ? 1 : 0
}

/** Servers are processes of their own, and would stay. */
function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => controller.abort())
  return controller.signal
}

function measureOptions(
  { rounds, isQuick, subjects, against }: BenchArguments,
  interrupted: AbortSignal,
): MeasureOptions {
  const before = against === undefined ? [] : [createHoldfast('before', resolve(against))]
  return {
    rounds,
    isQuick,
    interrupted,
    holdfasts: [createHoldfast('holdfast', root), ...before],
    isWanted: (name) => subjects?.includes(name) ?? true,
    tell: (line) => console.error(line),
  }
}

async function describeOrigin() {
  return {
    commit: await commitOf(root),
    command: ['scripts/bench/run', ...process.argv.slice(2)].join(' '),
    machine: describeMachine(),
    node: process.version,
    generator: await describeGenerator(),
  }
}
