import { describeBlobStore } from '@holdfast/contract'
import { openHarness } from './open-harness.ts'

const openFull = () => openHarness(8 * 2 ** 20)

describeBlobStore('SQLite', () => openHarness(), { openFull })
