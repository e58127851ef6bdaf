import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { openFile, type UploadBody, type UploadOptions } from '@holdfast/client'
import { formatBytes } from '@holdfast/core'
import { parseConcurrency } from '../../settings/parse-concurrency.ts'
import { CommandError } from '../errors/command-error.ts'
import { exitCodes } from '../errors/exit-codes.ts'
import { forEachName } from '../names/for-each-name.ts'
import { withTransfers, type RemoteWithScreen } from '../session/with-transfers.ts'
import { namesIn, textIn, type VerbArguments } from '../verb/client-verb.ts'
import { localFiles, type LocalFile } from './local-files.ts'
import { recordsDirectory, uploadRecord, type UploadRecord } from './upload-records.ts'

/** Uploads files, several at a time; resolves with the exit code. */
export async function runPut(argv: VerbArguments): Promise<number> {
  const files = localFiles(namesIn(argv), textIn(argv, 'as'))
  const concurrency = parseConcurrency(textIn(argv, 'concurrency') ?? '')
  const isCreateOnly = argv['no-clobber'] === true
  return withTransfers(argv, async (remote) => {
    const bounds = { ...remote, concurrency }
    await forEachName(
      files,
      ({ path }) => path,
      bounds,
      (file, signal) => putFile(file, isCreateOnly, { ...remote, signal }),
    )
  })
}

async function putFile(
  { path, name }: LocalFile,
  isCreateOnly: boolean,
  remote: RemoteWithScreen,
): Promise<void> {
  const { body, size: knownSize, record } = await open({ path, name }, isCreateOnly, remote)
  const display = remote.screen.begin(name, knownSize)
  let size = knownSize ?? 0
  const options: UploadOptions = {
    createOnly: isCreateOnly,
    signal: remote.signal,
    onProgress: ({ sent }) => {
      size = Math.max(size, sent)
      display.update(sent)
    },
  }
  try {
    if (record) await uploadRecorded(name, body, options, record, remote)
    else await remote.client.upload(name, body, options)
  } finally {
    display.end()
    // One that stands still would keep the process from its end.
    if (body instanceof Readable) body.destroy()
  }
  await remote.report.done(
    { name, path, size },
    `${path} is stored as ${name}, ${formatBytes(size)}`,
  )
}

/** What is at a path: a file, which can go on later, or a stream, which cannot. */
async function open({ path, name }: LocalFile, isCreateOnly: boolean, { login }: RemoteWithScreen) {
  if (path === '-') return { body: process.stdin, size: undefined, record: undefined }
  const version = await stat(path, { bigint: true })
  if (version.isDirectory()) {
    throw new CommandError(
      exitCodes.failed,
      'It is a directory; name the files in it, such as dir/*, or use sync.',
    )
  }
  if (!version.isFile()) {
    return { body: createReadStream(path), size: undefined, record: undefined }
  }
  const record = uploadRecord(recordsDirectory(process.env), {
    login,
    name,
    isCreateOnly,
    version,
  })
  return { body: await openFile(path), size: Number(version.size), record }
}

async function uploadRecorded(
  name: string,
  body: UploadBody,
  options: UploadOptions,
  record: UploadRecord,
  { client, report }: RemoteWithScreen,
): Promise<void> {
  const uploadUrl = await record.read()
  let isFirst = uploadUrl !== undefined
  let kept: Promise<void> | undefined
  await client.upload(name, body, {
    ...options,
    uploadUrl,
    onUploadUrl(url) {
      if (url === uploadUrl) return
      // Without it a later command begins anew, which is no reason to fail.
      kept = record.keep(url).catch(() => {})
    },
    onProgress(progress) {
      if (isFirst && progress.sent > 0)
        report.note(`${name} goes on at ${formatBytes(progress.sent)}`)
      isFirst = false
      options.onProgress?.(progress)
    },
  })
  await kept
  // The file is stored. A record that cannot be removed makes a later command begin anew, at worst.
  await record.forget().catch(() => {})
}
