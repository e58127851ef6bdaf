import { matchesGlob } from 'node:path'
import { parseArgs } from 'node:util'
import { s5cmdPackage } from './clients/s5cmd.ts'

/** What `scripts/bench/run` is to do. */
export interface BenchArguments {
  /** Names of scenarios, in the order in which they are run. */
  readonly scenarios: readonly string[]
  /** Names of the subjects that take part; `undefined` for all. */
  readonly subjects: readonly string[] | undefined
  readonly rounds: number
  readonly isQuick: boolean
  /** The folder of the document; `undefined` when results are printed only. */
  readonly out: string | undefined
  /** Another checkout of holdfast, to be measured beside this one. */
  readonly against: string | undefined
  /** What is asked for instead of a run. */
  readonly instead: 'help' | 'list' | 'render' | undefined
}

/** The text of `scripts/bench/run --help`. */
export const benchHelp = `scripts/bench/run [--only NAMES] [--rounds N] [--quick] [--out FOLDER]

Measures holdfast, as it would run in production, beside what one would pick instead: the same work on each server in
short turns, in an order that is shuffled anew in each round, so that whatever else the machine does falls on all. Prints medians, and
ratios, each the median of the ratios of the rounds.

  --only NAMES      only these scenarios: names or patterns such as 'get-*', with commas. --list shows all
  --subjects NAMES  only these servers and clients: holdfast, before, executable, fastify, express, nginx, dufs, minio, tusd, tus-server,
                    curl, rclone, s5cmd; and the floors bare http, disk+http, bare gateway
  --rounds N        how often each is measured; one more goes before, to warm up. Default: 15; fewer where
                    one takes minutes
  --quick           a first impression: one round, of less
  --against FOLDER  another checkout of holdfast, installed and built, which is measured beside this one as "before"
  --out FOLDER      writes FOLDER/benchmarks.md, FOLDER/benchmarks/figures.md, results.json and the plot beside it, and the table
                    in FOLDER/../README.md. Scenarios that are not run keep what they have there
  --render          measures nothing, and writes the document in --out anew from its results.json
  --list            names the scenarios

What is not there is named as missing. Programs: wrk for small requests (or else autocannon, from npm), openssl, nginx, dufs; curl,
rclone (Debian has it) and s5cmd (go install ${s5cmdPackage}); each from PATH or from HOLDFAST_BENCH_NGINX and the
like. tusd is built from its source, which needs Go. Linux only. A whole run takes hours, and 40 GiB below TMPDIR, which
should be on a real disk. Exit code 0: all was measured. 1: a scenario has failed, and keeps what it had. 2: wrong arguments.`

/**
 * Reads the command line, where there are these scenarios.
 * @throws RangeError that says what is wrong
 */
export function benchArguments(args: readonly string[], known: readonly string[]): BenchArguments {
  const { help, list, render, quick, ...values } = parse(args)
  if (render === true && values.out === undefined) {
    throw new RangeError('--render needs --out, the folder with the results.')
  }
  return {
    scenarios: chosen(known, namesIn(values.only ?? '*')),
    subjects: values.subjects === undefined ? undefined : namesIn(values.subjects),
    rounds: wholeNumber('rounds', values.rounds ?? (quick === true ? '1' : '15'), [1, 100]),
    isQuick: quick === true,
    out: values.out,
    against: values.against,
    instead: help ? 'help' : list ? 'list' : render ? 'render' : undefined,
  }
}

function parse(args: readonly string[]) {
  const [text, flag] = [{ type: 'string' }, { type: 'boolean' }] as const
  const options = {
    ...{ only: text, subjects: text, rounds: text, against: text, out: text },
    ...{ quick: flag, list: flag, render: flag },
    help: { type: 'boolean', short: 'h' },
  } as const
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (cause) {
    throw new RangeError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

const namesIn = (text: string) => text.split(',').map((name) => name.trim())

function chosen(known: readonly string[], patterns: readonly string[]): string[] {
  const idle = patterns.find((pattern) => !known.some((name) => matchesGlob(name, pattern)))
  if (idle !== undefined) {
    throw new RangeError(`--only: no scenario is called "${idle}"; there are ${known.join(', ')}.`)
  }
  return known.filter((name) => patterns.some((pattern) => matchesGlob(name, pattern)))
}

function wholeNumber(flag: string, text: string, [least, most]: readonly [number, number]): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= least && value <= most) return value
  throw new RangeError(
    `--${flag} must be a whole number from ${least} to ${most}; it is "${text}".`,
  )
}
