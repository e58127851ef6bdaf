import { readFileSync } from 'node:fs'
import type { OpenBrowser } from '@holdfast/testing/browsers'

type Page = Awaited<ReturnType<OpenBrowser['newPage']>>

/** What a person does on the page, in a real browser. */
export interface PageDriver {
  readonly page: Page
  /** What the browser has refused, or could not run. */
  readonly complaints: readonly string[]
  readonly signIn: (password?: string) => Promise<void>
  /** Waits until an element for the CSS `selector` has `text` in it. */
  readonly sees: (selector: string, text: string) => Promise<void>
  /** Waits until there is none such. */
  readonly misses: (selector: string, text?: string) => Promise<void>
  readonly click: (selector: string) => Promise<void>
  /** Drops files anywhere on the page. */
  readonly drop: (files: readonly DroppedFile[]) => Promise<void>
  /** The names in the list, in its order. */
  readonly names: () => Promise<string[]>
  /** What axe finds wrong, one line each. */
  readonly axe: () => Promise<string[]>
}

export interface DroppedFile {
  readonly name: string
  readonly content: string
  readonly lastModified?: number
}

const axeSource = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** Opens the page at `url` as a new visitor. */
export async function openDriver(browser: OpenBrowser, url: string): Promise<PageDriver> {
  const page = await browser.newPage()
  await page.setViewport({ width: 1280, height: 800 })
  await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }])
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    // A status other than 200 is part of what is tested.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      complaints.push(message.text())
    }
  })
  await page.goto(url)
  const sees = async (selector: string, text: string) => {
    await page.waitForFunction(
      (wanted, part) =>
        [...document.querySelectorAll(wanted)].some((each) => each.textContent.includes(part)),
      {},
      selector,
      text,
    )
  }
  const click = async (selector: string) => {
    await page.waitForSelector(selector)
    await page.$eval(selector, (element) => (element as HTMLElement).click())
  }
  return {
    page,
    complaints,
    sees,
    click,
    async misses(selector, text = '') {
      await page.waitForFunction(
        (wanted, part) =>
          ![...document.querySelectorAll(wanted)].some((each) => each.textContent.includes(part)),
        {},
        selector,
        text,
      )
    },
    async signIn(password = 'sesame') {
      await page.locator('[name=username]').fill('anna')
      await page.locator('[name=password]').fill(password)
      await click('[type=submit]')
    },
    async drop(files) {
      await page.evaluate((dropped) => {
        const transfer = new DataTransfer()
        for (const { name, content, lastModified = 1 } of dropped) {
          transfer.items.add(new File([content], name, { lastModified }))
        }
        for (const type of ['dragenter', 'dragover', 'drop']) {
          const init = { dataTransfer: transfer, bubbles: true, cancelable: true }
          document.body.dispatchEvent(new DragEvent(type, init))
        }
      }, files)
    },
    names: () =>
      page.$$eval('.rows .name', (names) => names.map((name) => (name as HTMLElement).title)),
    async axe() {
      // The policy of the page binds its own scripts, and not the driver's.
      await page.evaluate(axeSource)
      return page.evaluate(async () => {
        const { violations } = await (
          globalThis as never as {
            axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
          }
        ).axe.run()
        return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
      })
    },
  }
}
