import type { BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

const count = 100_000
const mostRows = 60
/** In the order in which people sort, which is not the order of the list: 7919 and `count` have no common divisor. */
const nameOf = (index: number) => `photo ${(index * 7919) % count} of ${index % 10}.jpg`

/** Its list stops after the first page until `release`. */
async function manyNames() {
  const store = createMemoryBlobStore()
  for (let index = 0; index < count; index += 1) {
    await store.put({ customer: 'anna', name: nameOf(index) }, nothing())
  }
  const released = Promise.withResolvers<undefined>()
  const slow: BlobStore = {
    ...store,
    async *listDetails(customer, options) {
      if (options?.after) await released.promise
      yield* store.listDetails(customer, options)
    },
  }
  return { store: slow, release: () => released.resolve(undefined) }
}

async function* nothing(): AsyncIterable<Uint8Array> {}

describeInBrowsers('100,000 names', (browser) => {
  it('are shown as they come, scrolled, and filtered as one types, with few rows in the document', async function () {
    this.timeout(300_000)
    const { store, release } = await manyNames()
    await using server = await runPage(store)
    const driver = await openDriver(browser(), server.url)
    const { page, reads, names } = driver
    await driver.signIn()
    await reads('1,000 files')
    expect(await names()).to.have.length.within(10, mostRows)
    release()
    await reads('100,000 files')
    await page.waitForFunction(() => !document.body.innerText.includes('Loading'))

    const sorted = Array.from({ length: count }, (_, index) => nameOf(index)).sort(byNumber)
    const expectShown = async (expected: readonly string[], from: number) => {
      const shown = await names()
      expect(shown).to.have.length.within(Math.min(expected.length, 10), mostRows)
      // The active row is in the document wherever one scrolls.
      const rows = shown.filter((name) => expected.indexOf(name) >= from)
      const first = expected.indexOf(rows[0] ?? '')
      expect(rows).to.deep.equal(expected.slice(first, first + rows.length))
    }
    await expectShown(sorted, 0)
    const scrollTo = async (top: number, name: string | undefined) => {
      await page.$eval('.rows', (rows, to) => (rows.scrollTop = to), top)
      await driver.sees('.rows .name', name ?? '')
    }
    await scrollTo(1e9, sorted.at(-1))
    await expectShown(sorted, 1)
    // The first row is the active one, so it is in the document before anything has scrolled: wait for its neighbour.
    await scrollTo(0, sorted[1])
    await expectShown(sorted, 0)

    // Sorting takes longest, so no letter may sort.
    await page.evaluate(countSorts)
    const text = '99 of 9'
    await page.locator('.filter input').click()
    for (let length = 1; length <= text.length; length += 1) {
      await page.keyboard.type(text[length - 1] ?? '')
      const words = text.slice(0, length).split(' ').filter(Boolean)
      const left = sorted.filter((name) => words.every((word) => name.includes(word)))
      const status = `${left.length.toLocaleString('en')} of 100,000 files`
      await page.waitForFunction(
        (shown) => document.querySelector('.status p')?.textContent === shown,
        {},
        status,
      )
      await expectShown(left, 0)
    }
    expect(await page.evaluate(() => (window as never as { sorts: number }).sorts)).to.equal(0)
    await page.keyboard.press('Escape')
    await reads('100,000 files')
    await driver.misses('.status', ' of 100,000')
    await expectShown(sorted, 0)

    await page.focus('.rows .row')
    await page.keyboard.press('End')
    await page.waitForFunction(
      (last) => document.activeElement?.textContent.includes(last),
      {},
      sorted.at(-1) ?? '',
    )
    expect(driver.complaints).to.deep.equal([])
  })
})

const { compare } = new Intl.Collator('en', { numeric: true })
const byNumber = (one: string, other: string) => compare(one, other)

/** Counts in the page how often a long array is sorted. */
function countSorts(): void {
  const counted = Object.assign(window, { sorts: 0 })
  for (const name of ['sort', 'toSorted'] as const) {
    const own = Reflect.get(Array.prototype, name) as (...given: unknown[]) => unknown[]
    Object.assign(Array.prototype, {
      [name](this: unknown[], ...given: unknown[]) {
        if (this.length > 1000) counted.sorts += 1
        return own.apply(this, given)
      },
    })
  }
}
