import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ensurePythonEnvironment } from '../openapi/python-environment.ts'
import { runTusJs } from './run-tus-js.ts'
import { ensureGoClient } from './support/go-client.ts'
import type { TusClient, UploadJob, UploadOutcome, Workplace } from './tus-client.ts'

const run = promisify(execFile)
const python = join(import.meta.dirname, 'programs/python')

/** The clients that are tested. docs/api.md names them; a test compares them with the README of @holdfast/resumable. */
export const tusClients: readonly TusClient[] = [
  {
    title: 'tus-js-client in Node',
    abilities: ['pause', 'stop', 'terminate', 'replace'],
    run: async (job, { file }) => runTusJs(await readFile(file), job),
  },
  {
    title: 'tus-js-client in Chromium',
    abilities: ['pause', 'terminate', 'remember', 'replace'],
    run: (job, workplace) => runInTab('tus-js-client', job, workplace),
  },
  {
    title: 'Uppy in Chromium',
    abilities: ['pause', 'terminate', 'remember', 'replace'],
    run: (job, workplace) => runInTab('Uppy', job, workplace),
  },
  {
    title: 'tusgo',
    abilities: ['stop', 'terminate'],
    run: async (job, workplace) => runProgram(await ensureGoClient(), [], job, workplace),
  },
  {
    title: 'tuspy',
    abilities: ['stop'],
    async run(job, workplace) {
      const folder = await ensurePythonEnvironment('tuspy', join(python, 'requirements.txt'))
      const program = join(folder, 'bin/python')
      return runProgram(program, [join(python, 'upload.py')], job, workplace)
    },
  },
]

async function runInTab(
  client: string,
  job: UploadJob,
  workplace: Workplace,
): Promise<UploadOutcome> {
  const tab = await workplace.openTab()
  const call = `runJob(${JSON.stringify(client)}, ${JSON.stringify(job)})`
  const outcome = (await tab.evaluate(call)) as UploadOutcome
  await tab.close()
  return outcome
}

async function runProgram(
  program: string,
  args: readonly string[],
  job: UploadJob,
  { file }: Workplace,
): Promise<UploadOutcome> {
  const { stdout } = await run(program, [...args, JSON.stringify(job), file])
  return JSON.parse(stdout) as UploadOutcome
}
