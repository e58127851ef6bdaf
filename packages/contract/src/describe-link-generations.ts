import type { LinkGenerations } from '@holdfast/core'
import { AssertionError, expect } from 'chai'
import {
  type BlobStoreHarness,
  globalRunner,
  type SuiteOptions,
  withHarness,
} from './support/suite.ts'
import { collect, expectRefusal, expectTidy, names } from './support/expectations.ts'
import { nastyNames } from './support/nasty-names.ts'

export interface LinkGenerationsSuiteOptions extends SuiteOptions {
  /** Opens a store whose medium cannot be reached, to test that it never reports that as the first generation. */
  readonly openUnreachable?: () => Promise<BlobStoreHarness>
}

/**
 * Declares the tests that `linkGenerations` of a `BlobStore` must pass; a store without it fails them. `open` makes an empty store, as for
 * `describeBlobStore`.
 */
export function describeLinkGenerations(
  name: string,
  open: () => Promise<BlobStoreHarness>,
  options: LinkGenerationsSuiteOptions = {},
): void {
  const { runner = globalRunner(), openUnreachable } = options
  const test = (
    fact: string,
    body: (generations: LinkGenerations, harness: BlobStoreHarness) => Promise<void>,
    openOne = open,
  ) =>
    runner.it(fact, () =>
      withHarness(openOne, async (harness) => {
        await body(generationsOf(harness), harness)
        await expectTidy(harness)
      }),
    )

  runner.describe(`${name} as LinkGenerations`, () => {
    runner.describe('generations', () => {
      test('begin with the empty one', async (generations) => {
        expect(await generations.read('alice')).to.equal('')
      })

      test('are never the same again', async (generations) => {
        const had = new Set([''])
        for (let count = 0; count < 5; count++) {
          const generation = await generations.renew('alice')
          expect(generation).to.match(/^[0-9A-Za-z]{1,64}$/)
          expect(await generations.read('alice')).to.equal(generation)
          had.add(generation)
        }
        expect(had.size).to.equal(6)
      })

      test('belong to one customer, of whatever name', async (generations) => {
        const renewed = new Map<string, string>()
        for (const customer of nastyNames) {
          expect(await generations.read(customer), JSON.stringify(customer)).to.equal('')
          renewed.set(customer, await generations.renew(customer))
        }
        for (const [customer, generation] of renewed) {
          expect(await generations.read(customer), JSON.stringify(customer)).to.equal(generation)
        }
      })

      test('are new for all, of however many that begin at once', async (generations) => {
        const before = await generations.renew('alice')
        const begun = await Promise.all(
          Array.from({ length: 10 }, () => generations.renew('alice')),
        )
        const read = await generations.read('alice')
        expect(begun).to.include(read)
        expect(begun).not.to.include(before)
      })

      test('are read by every opening', async (generations, { openAgain }) => {
        const other = generationsOf({ store: await openAgain() })
        expect(await other.read('alice')).to.equal('')
        const first = await generations.renew('alice')
        expect(await other.read('alice')).to.equal(first)
        const second = await other.renew('alice')
        expect(await generations.read('alice')).to.equal(second)
      })

      test('are no blobs', async (generations, { store }) => {
        await generations.renew('alice')
        expect(await names(store, 'alice')).to.deep.equal([])
        expect(await store.usage('alice')).to.deep.equal({ blobs: 0, bytes: 0 })
        expect(await collect(store.customers())).to.deep.equal([])
      })
    })
    if (openUnreachable) {
      runner.describe('unreachable', () => {
        const refuse = async (generations: LinkGenerations) => {
          await expectRefusal(generations.read('alice'), 'store-unavailable')
          await expectRefusal(generations.renew('alice'), 'store-unavailable')
        }
        test('rejects with store-unavailable', refuse, openUnreachable)
      })
    }
  })
}

function generationsOf({ store }: Pick<BlobStoreHarness, 'store'>): LinkGenerations {
  if (store.linkGenerations) return store.linkGenerations
  throw new AssertionError('the store has no property "linkGenerations"')
}
