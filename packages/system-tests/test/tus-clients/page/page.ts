import type { UploadJob } from '../tus-client.ts'
import { runTusJs } from '../run-tus-js.ts'
import { runUppy } from './run-uppy.ts'

/** What a test calls in the page: does a job with the file that the page's server has at `/content`. */
async function runJob(client: 'tus-js-client' | 'Uppy', job: UploadJob) {
  const content = await (await fetch('/content')).blob()
  // Clients that remember recognise a file by its name, type, size and time.
  const file = new File([content], job.name, { lastModified: 0 })
  return client === 'Uppy' ? runUppy(file, job) : runTusJs(file, job)
}

Object.assign(globalThis, { runJob })
