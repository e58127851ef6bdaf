/**
 * Deletes the files that are older than so many days, of all customers:
 *
 *     node src/main.ts --days 90 [--dry-run]
 *     node src/main.ts --before 2026-01-01T00:00:00Z [--dry-run]
 *
 * Ends with code 1 if anything has failed.
 */
import { parseArgs } from 'node:util'
import { createFileService } from '@holdfast/core'
import { openMinioBlobStore } from '@holdfast/store-minio'
import { deleteOldFiles } from './delete-old-files.ts'

const usage =
  'Say which files are old: --days <number> or --before <time>, and --dry-run for a rehearsal.'

try {
  process.exitCode = await run()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

async function run(): Promise<number> {
  const { values } = parseArgs({
    options: {
      days: { type: 'string' },
      before: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
    },
  })
  const before = timeOf(values)
  const isRehearsal = values['dry-run']

  const store = await openMinioBlobStore({
    endpoint: setting('MINIO_ENDPOINT'),
    bucket: setting('MINIO_BUCKET'),
    accessKey: setting('MINIO_ACCESS_KEY'),
    secretKey: setting('MINIO_SECRET_KEY'),
  })
  const service = createFileService({ store })
  const total = { looked: 0, deleted: 0, bytes: 0, failed: 0 }
  try {
    // Who has files is known to the store. Your application may rather ask its own database.
    for await (const name of store.customers()) {
      const { looked, deleted, bytes, failed } = await deleteOldFiles(service.filesOf({ name }), {
        before,
        isRehearsal,
        report: console.error,
      })
      console.log(`${name}: ${deleted} of ${looked} files, ${bytes} bytes`)
      total.looked += looked
      total.deleted += deleted
      total.bytes += bytes
      total.failed += failed
    }
  } finally {
    await store.close()
  }
  const done = isRehearsal ? 'Would delete' : 'Deleted'
  console.log(`${done} ${total.deleted} of ${total.looked} files, ${total.bytes} bytes`)
  if (total.failed > 0) console.error(`${total.failed} files failed`)
  return total.failed > 0 ? 1 : 0
}

function timeOf({ days, before }: { days?: string; before?: string }): Date {
  const isOne = (days === undefined) !== (before === undefined)
  const time = days === undefined ? Date.parse(before ?? '') : Date.now() - Number(days) * 864e5
  // An empty text is the number 0, and days in the future would be a way to delete everything.
  const isRight = isOne && days !== '' && !Number.isNaN(time) && !(Number(days) < 0)
  if (!isRight) throw new Error(usage)
  return new Date(time)
}

function setting(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`Set ${name}`)
  return value
}
