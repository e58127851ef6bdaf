import { describe, it } from 'node:test'
import { describeBlobStore } from '@holdfast/contract'
import { openHarness } from './open-harness.ts'

describeBlobStore('SQLite', () => openHarness(), { runner: { describe, it } })
