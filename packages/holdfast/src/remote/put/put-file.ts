import { Readable } from 'node:stream'
import type { UploadBody, UploadOptions } from '@holdfast/client'
import { formatBytes } from '@holdfast/core'
import type { Report } from '../output/report.ts'
import type { RemoteWithScreen } from '../session/with-transfers.ts'
import type { LocalFile } from './local-files.ts'
import { openLocal } from './open-local.ts'
import { recordsDirectory, uploadRecord, type UploadRecord } from './upload-records.ts'

/** Uploads one file, or a stream; goes on with a large file where an earlier command stopped. */
export async function putFile(
  { path, name }: LocalFile,
  isCreateOnly: boolean,
  remote: RemoteWithScreen,
): Promise<void> {
  const { login, report } = remote
  const { body, version } = await openLocal(path)
  const knownSize = 'size' in body ? body.size : undefined
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
    if (version) {
      const identity = { login, name, isCreateOnly, version }
      const record = uploadRecord(recordsDirectory(process.env), identity)
      await uploadRecorded(name, body, options, record, remote)
    } else await remote.client.upload(name, body, options)
  } finally {
    display.end()
    // One that stands still would keep the process from its end.
    if (body instanceof Readable) body.destroy()
  }
  await reportStored({ name, path, size }, report)
}

/** Reports a file that is safe on the server. */
export async function reportStored(
  { name, path, size }: LocalFile & { readonly size: number },
  report: Report,
): Promise<void> {
  await report.done({ name, path, size }, `${path} is stored as ${name}, ${formatBytes(size)}`)
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
