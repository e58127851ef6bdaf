import { authentication } from './areas/authentication.ts'
import { deleteBatch } from './areas/delete-batch.ts'
import { isolation } from './areas/isolation.ts'
import { limits } from './areas/limits.ts'
import { links } from './areas/links.ts'
import { logins } from './areas/logins.ts'
import { loginBrake } from './areas/login-brake.ts'
import { overload } from './areas/overload.ts'
import { uploadCreateOnly } from './areas/upload-create-only.ts'
import { uploadLinksInPieces } from './areas/upload-links-in-pieces.ts'
import { uploadLinks } from './areas/upload-links.ts'
import { uploadOverwrite } from './areas/upload-overwrite.ts'
import { usage } from './areas/usage.ts'
import { openDiskStore } from './support/open-disk-store.ts'
import { startService } from './support/running-service.ts'

/**
 * Those that depend on what workers share (logins, the queue of password hashes, failed logins, keys of links, the lock and the counts of
 * uploads by links, quotas), or in which different workers change the same file. A worker does everything else as a server
 * without workers.
 */
const areas = [
  authentication,
  loginBrake,
  logins,
  uploadOverwrite,
  uploadCreateOnly,
  links,
  uploadLinks,
  uploadLinksInPieces,
  usage,
  deleteBatch,
  isolation,
  limits,
  overload,
]

describe('the service on the disk store, with two workers', () => {
  for (const area of areas)
    area((options = {}) => startService(openDiskStore, options, undefined, 2))
})
