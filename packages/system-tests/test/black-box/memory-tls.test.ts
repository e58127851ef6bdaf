import { createMemoryBlobStore } from '@holdfast/core/memory'
import { useTrustedCertificate } from '@holdfast/testing'
import { cutAnswers } from './areas/cut-answers.ts'
import { earlyRefusal } from './areas/early-refusal.ts'
import { errorForm } from './areas/error-form.ts'
import { expectContinue } from './areas/expect-continue.ts'
import { halfClosed } from './areas/half-closed.ts'
import { loginBrake } from './areas/login-brake.ts'
import { ping } from './areas/ping.ts'
import { serve } from './areas/serve.ts'
import { uploadBatch } from './areas/upload-batch.ts'
import { uploadForm } from './areas/upload-form.ts'
import { uploadMalformed } from './areas/upload-malformed.ts'
import { uploadRaw } from './areas/upload-raw.ts'
import { startService } from './support/running-service.ts'

/**
 * Those in which it matters how bytes come and go, or where from. What the service says of names, digests, ranges and faults
 * of the store does not depend on TLS.
 */
const areas = [
  ping,
  loginBrake,
  uploadForm,
  uploadMalformed,
  uploadRaw,
  uploadBatch,
  expectContinue,
  earlyRefusal,
  halfClosed,
  serve,
  cutAnswers,
  errorForm,
]

describe('createHttpsServer', () => {
  const certificate = useTrustedCertificate()
  const openStore = async () => ({
    store: createMemoryBlobStore(),
    litter: async () => [],
    close: async () => {},
  })
  for (const area of areas) area((options = {}) => startService(openStore, options, certificate()))
})
