import { openFuzzDisk } from './fuzz-store.ts'
import type { FuzzTarget } from './fuzz-target.ts'
import { conditions } from './targets/conditions.ts'
import { configuration } from './targets/configuration.ts'
import { connections } from './targets/connections.ts'
import { customers } from './targets/customers.ts'
import { headers } from './targets/headers.ts'
import { multipart } from './targets/multipart.ts'
import { fileNames } from './targets/names.ts'
import { ranges } from './targets/ranges.ts'
import { requests } from './targets/requests.ts'
import { roundTrips } from './targets/round-trips.ts'
import { uploads } from './targets/uploads.ts'
import { urls } from './targets/urls.ts'
import { values } from './targets/values.ts'

/** Everything that is fuzzed, each anew. */
export function allTargets(): readonly FuzzTarget[] {
  return [...quickTargets(), connections()]
}

/** Those that measure nothing, so that something else may run beside them. */
export function quickTargets(): readonly FuzzTarget[] {
  return [
    multipart(),
    multipart({ name: 'multipart-on-disk', share: 1, openStore: () => openFuzzDisk('plain') }),
    headers(),
    requests(),
    ranges(),
    conditions(),
    urls(),
    fileNames(),
    customers(),
    configuration(),
    values(),
    roundTrips(),
    uploads(),
    uploads({ isDraft: true }),
    uploads({ name: 'tus-on-disk', share: 1, openStore: () => openFuzzDisk('plain') }),
    roundTrips({ name: 'round-trips-on-disk', share: 1, openStore: () => openFuzzDisk('escaped') }),
  ]
}
