/**
 * The body of scripts/test: every check, and the tests, file by file, several at a time, whatever has failed before. A
 * check counts as one. Ends with what failed and the line `N passed, N failed`, and with code 1 if anything failed.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { coverageFolder, forgetCoverage } from '../test-coverage/coverage-folder.ts'
import { hasResultsOf } from '../matrix/result-problems.ts'
import { forgetResults, keepResults } from '../matrix/results-file.ts'
import { stores } from '../matrix/stores.ts'
import { announce } from './announce.ts'
import { checkCommands } from './check-commands.ts'
import { checkJob } from './check-job.ts'
import { chooseTests } from './choose-tests.ts'
import { describeCosts } from './describe-costs.ts'
import type { JobKind } from './job-kind.ts'
import { leftOutSuites } from './left-out-suites.ts'
import { mountMemoryDisk } from './memory-disk.ts'
import { parseArguments } from './parse-arguments.ts'
import { processorTimeOfMachine } from './processor-time.ts'
import { addReports, noTest, type Report } from './report.ts'
import { describeRepetitions, repeatJobs, startLoad } from './repeat-tests.ts'
import { retryExternal } from './retry-external.ts'
import { runJobs, type Done, type Job } from './run-jobs.ts'
import { startSharedMinio } from './start-shared-minio.ts'
import { stopOnSignals } from './stop-on-signals.ts'
import { summaryOf } from './summary-of.ts'
import { testNeeds } from './test-needs.ts'
import { testJobs } from './test-jobs.ts'
import { watchTests } from './watch-tests.ts'

const root = join(import.meta.dirname, '../..')
const check = (title: string, kind: JobKind, ...command: string[]) =>
  checkJob(root, title, kind, command)

// First, since tests import other packages as they are published: from dist.
const build = check('build and types', 'build and types', 'node', 'scripts/build-packages.ts')
// Of this run only: a test may run this script, too.
const program = await mkdtemp(join(tmpdir(), 'holdfast-program-'))
const page = check('the page', 'build and types', 'node', 'packages/web/build/build-page.ts')
const bundle = check(
  'bundle of the command',
  'build and types',
  ...['node', 'scripts/program/build-program.ts', program],
)
const packed = join(program, 'packed')
const installed = join(program, 'installed')
const tarballs = check(
  'tarballs',
  'release and installation',
  ...['node', 'scripts/release/pack-for-tests.ts', packed],
)
const installation = check(
  'tarballs, and their installation',
  'release and installation',
  ...['node', 'scripts/release/pack-for-tests.ts', packed, installed],
)
const executableFile = join(program, 'executable')
const executable = check(
  'single executable',
  'release and installation',
  ...['node', 'scripts/program/build-executable.ts', executableFile],
)
const coverage = check('coverage', 'lint and format', 'node', 'scripts/check-coverage.ts')
const matrix = check(
  'contract results in the documentation',
  'lint and format',
  ...['node', 'scripts/check-matrix.ts'],
)

const args = parseArguments(process.argv.slice(2))
const choice = chooseTests(root, args)
const checks = checkCommands(choice.named).map(({ title, kind, command }) =>
  checkJob(root, title, kind, command),
)
const stop = stopOnSignals()
const done: Done<Report>[] = []
const machineAtStart = processorTimeOfMachine()
if (args.watch) await watchTests(root, choice)

// Arguments choose some of the tests, and so does the waiver.
const isComplete = choice.isWhole && leftOutSuites() === undefined

// It takes a fifth of the time, and more.
const isCovered = isComplete && (args.coverage || Boolean(process.env['CI']))

if (isComplete) await forgetResults(root)
if (isCovered) await forgetCoverage(root)
const needs = testNeeds(root, choice.files)
const arePacked = needs.includes('tarballs')
const areInstalled = needs.includes('installation')
const isOneFile = needs.includes('executable')
const built = [
  ...(await run([build])),
  ...(await run([page])),
  // Each has of the others only what is built by now.
  ...(await run([
    bundle,
    ...(areInstalled ? [installation] : arePacked ? [tarballs] : []),
    ...(isOneFile ? [executable] : []),
  ])),
]
process.env['HOLDFAST_TEST_PROGRAM'] = join(program, 'holdfast/bin/holdfast.js')
if (arePacked) process.env['HOLDFAST_TEST_TARBALLS'] = join(packed, 'tarballs.json')
if (areInstalled) process.env['HOLDFAST_TEST_INSTALLATION'] = installed
if (isOneFile) process.env['HOLDFAST_TEST_EXECUTABLE'] = executableFile
const endMinio = await startSharedMinio(root, choice.files)
const folders = {
  coverage: isCovered ? coverageFolder(root) : undefined,
  compiled: join(program, 'compiled'),
  temporary: mountMemoryDisk(),
}
const tests = testJobs(root, choice, folders)
if (args.flaky) await repeatTests()
const reports = await run([...checks, ...tests])
const checked = reports.slice(0, checks.length)
const { reports: tested, flaky } = await retryExternal(
  tests,
  reports.slice(checks.length),
  runAlone,
)
await tidyUp()
const ofTests = addReports(tested)
// The tests of the stores alone have them, too.
const haveAllStores = isComplete || hasResultsOf(stores, ofTests.contract)
if (haveAllStores) await keepResults(root, ofTests.contract)
const documented = [...(haveAllStores ? [matrix] : []), ...(isCovered ? [coverage] : [])]
const concluded = documented.length > 0 ? await run(documented) : []
// Changes may concern no test; a pattern that chooses none is a mistake.
const hasRun = ofTests.passed + ofTests.failures.length > 0 || args.since !== undefined
const total = addReports([
  ...built,
  ...checked,
  ...tested,
  ...concluded,
  ...(hasRun ? [] : [noTest]),
])
console.log(['', ...describeCosts(done, machineSecondsSoFar())].join('\n'))
console.log(summaryOf(total, { leftOut: leftOutSuites(), long: choice.leftOut, flaky }))
process.exitCode = total.failures.length === 0 ? 0 : 1

/** Runs the chosen files many times under load, instead of the checks, and ends this process. */
async function repeatTests(): Promise<never> {
  const endLoad = startLoad()
  const reports = await run(repeatJobs(tests))
  endLoad()
  await tidyUp()
  const failures = reports.map((report) => report.failures)
  const lines = describeRepetitions(choice.files, failures)
  const { passed, ...rest } = addReports([...built, ...reports])
  console.log(['', ...lines, `${passed} passed, ${rest.failures.length} failed`].join('\n'))
  process.exit(rest.failures.length === 0 ? 0 : 1)
}

async function tidyUp(): Promise<void> {
  await endMinio()
  // A process that a test has left may keep compiled code when it ends.
  await rm(program, { recursive: true, force: true, maxRetries: 10 })
}

/** Runs test files once more, each in a process of its own, one after the other; several in one where their process has died. */
async function runAlone(files: readonly string[]): Promise<Report[]> {
  const jobs = files.flatMap((file) =>
    testJobs(root, { ...choice, files: file.split(' ') }, folders),
  )
  return run(jobs.map((job) => ({ ...job, isAlone: true })))
}

function machineSecondsSoFar(): number | undefined {
  const now = processorTimeOfMachine()
  return machineAtStart === undefined || now === undefined ? undefined : now - machineAtStart
}

async function run(jobs: readonly Job<Report>[]): Promise<Report[]> {
  const shown = announce(jobs.length)
  try {
    const onEnd = (one: Done<Report>) => {
      done.push(one)
      shown.onEnd(one)
    }
    return await runJobs(jobs, { lanes: args.lanes, stop, onStart: shown.onStart, onEnd })
  } finally {
    shown.end()
  }
}
