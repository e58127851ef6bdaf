import { authentication } from './authentication.ts'
import { batch } from './batch.ts'
import { clientLarge, clientSmall } from './client-files.ts'
import { coldStart } from './cold-start.ts'
import { remove } from './delete.ts'
import { get1Gib } from './get-1gib.ts'
import { get1Mib } from './get-1mib.ts'
import { get4KibDistinct } from './get-4kib-distinct.ts'
import { get4KibHot } from './get-4kib-hot.ts'
import { list1000 } from './list-1000.ts'
import { listMany } from './list-many.ts'
import { listPages } from './list-pages.ts'
import { login1000 } from './login-1000.ts'
import { overHttp, overHttps } from './over.ts'
import { ranges } from './ranges.ts'
import type { Scenario } from './scenario.ts'
import { minio4Kib, minio64Mib } from './through-minio.ts'
import { severalServers } from './several-servers.ts'
import { tus1Gib } from './tus-1gib.ts'
import { tus4Kib } from './tus-4kib.ts'
import { upload1Gib } from './upload-1gib.ts'
import { upload64AtOnce } from './upload-64-at-once.ts'
import { uploadSmall } from './upload-small.ts'
import { workers } from './workers.ts'

/** All that can be measured, in the order in which it is. */
export const allScenarios: readonly Scenario[] = [
  get4KibHot(overHttp),
  get4KibDistinct,
  get1Mib,
  get1Gib(overHttp),
  ranges,
  uploadSmall('upload-4kib', 'Uploads of 4 KiB', 4096),
  uploadSmall('upload-1mib', 'Uploads of 1 MiB', 1024 ** 2),
  batch,
  upload1Gib(overHttp),
  tus1Gib,
  tus4Kib,
  upload64AtOnce,
  get4KibHot(overHttps),
  get1Gib(overHttps),
  upload1Gib(overHttps),
  list1000,
  listMany('list-100000', 100_000),
  listMany('list-1000000', 1_000_000),
  listPages('pages-1000000', 1_000_000),
  remove,
  authentication,
  login1000,
  coldStart,
  clientSmall,
  clientLarge,
  workers,
  severalServers,
  minio64Mib,
  minio4Kib,
]
