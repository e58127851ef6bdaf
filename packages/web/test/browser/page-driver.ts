import { readFileSync } from 'node:fs'
import type { OpenBrowser } from '@holdfast/testing/browsers'

type Page = Awaited<ReturnType<OpenBrowser['newPage']>>

/** What a person does on the page, in a real browser. */
export interface PageDriver {
  readonly page: Page
  /** What the browser has refused, or could not run. */
  readonly complaints: readonly string[]
  /** Signs in at once, without the steps of a person: keyboard.external.test.ts types. */
  readonly signIn: (password?: string, customer?: string) => Promise<void>
  /** Writes the password, and signs in. */
  readonly enterPassword: (password: string) => Promise<void>
  /** Waits until an element for the CSS `selector` has `text` in it. */
  readonly sees: (selector: string, text: string) => Promise<void>
  /** Waits until there is none such. */
  readonly misses: (selector: string, text?: string) => Promise<void>
  readonly click: (selector: string) => Promise<void>
  /** Presses with the mouse what has this role and this name; in Chromium, for a screen reader. */
  readonly press: (role: Role, name: string) => Promise<void>
  /** Waits until all of `texts` can be read on the page. */
  readonly reads: (...texts: readonly string[]) => Promise<void>
  /** Waits until none of `texts` can be read on the page. */
  readonly readsNot: (...texts: readonly string[]) => Promise<void>
  /** Chooses files of the disk by the dialog that this button opens. */
  readonly choose: (button: string, ...paths: readonly string[]) => Promise<void>
  /** Drops files anywhere on the page. */
  readonly drop: (files: readonly DroppedFile[]) => Promise<void>
  /** Writes into the field with this label. */
  readonly fill: (label: string, text: string) => Promise<void>
  readonly value: (label: string) => Promise<string>
  /** Pastes what was copied. */
  readonly paste: () => Promise<void>
  /** Waits until the page asks what becomes of a file that is none of `decided`; resolves with its name. */
  readonly conflict: (decided: readonly string[]) => Promise<string>
  /** Presses what begins so. */
  readonly decide: (choice: string) => Promise<void>
  readonly tick: (label: string) => Promise<void>
  /** The names in the list, in its order. */
  readonly names: () => Promise<string[]>
  /** What axe finds wrong, one line each. In Chromium only: document and colours are the same in each browser. */
  readonly axe: () => Promise<string[]>
}

export interface DroppedFile {
  readonly name: string
  readonly content: string
  /** How often the content is in the file. The page repeats it, since what the driver sends is slow. Default: once. */
  readonly times?: number
  readonly lastModified?: number
}

const axeSource = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** Opens the page at `url` as a new visitor. */
export async function openDriver(browser: OpenBrowser, url: string): Promise<PageDriver> {
  const page = waitingCalmly(await browser.newPage())
  await page.setViewport({ width: 1280, height: 800 })
  if (browser.name === 'chromium') {
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }])
  }
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
  const called = browser.name === 'chromium' ? accessible : labelled
  const press = (role: Role, name: string) => page.locator(called(role, name)).click()
  const enterPassword = async (password: string) => {
    const value = () => page.$eval('[name=password]', (field) => (field as HTMLInputElement).value)
    // What takes the focus meanwhile takes letters with it.
    do await page.locator('[name=password]').fill(password)
    while ((await value()) !== password)
    await press('button', 'Sign in')
  }
  return {
    page,
    complaints,
    enterPassword,
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
    press,
    reads: (...texts) => readable(page, texts, true),
    readsNot: (...texts) => readable(page, texts, false),
    fill: (label, text) => page.locator(called('textbox', label)).fill(text),
    value: (label) =>
      page.$eval(called('textbox', label), (field) => (field as HTMLInputElement).value),
    async paste() {
      await page.keyboard.down('Control')
      await page.keyboard.press('v')
      await page.keyboard.up('Control')
    },
    async conflict(decided) {
      const name = await page.waitForFunction(
        (known) => {
          const text = document.querySelector('dialog[open]')?.textContent ?? ''
          const [, found] = /already a file “(.*?)”/.exec(text) ?? []
          return found !== undefined && !known.includes(found) && found
        },
        {},
        decided,
      )
      return (await name.jsonValue()) || ''
    },
    decide: (choice) => page.locator(`dialog ::-p-text(${choice})`).click(),
    tick: (label) => page.locator(`dialog ::-p-text(${label})`).click(),
    async choose(button, ...paths) {
      const [chooser] = await Promise.all([page.waitForFileChooser(), press('button', button)])
      await chooser.accept([...paths])
    },
    async signIn(password = 'sesame', customer = 'anna') {
      await page.waitForSelector('[name=password]')
      await page.evaluate(fillAndSubmit, { username: customer, password })
    },
    async drop(files) {
      await page.evaluate((dropped) => {
        const transfer = new DataTransfer()
        for (const { name, content, times = 1, lastModified = 1 } of dropped) {
          transfer.items.add(new File([content.repeat(times)], name, { lastModified }))
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
      if (browser.name !== 'chromium') return []
      // Colours on their way from one to the other have another contrast.
      await page.waitForFunction(() =>
        document.getAnimations().every((each) => each.effect?.getTiming().iterations === Infinity),
      )
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

/** Fills the fields of these names at once, and submits their form. Runs in the page. */
function fillAndSubmit(fields: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(fields)) {
    const field = document.querySelector<HTMLInputElement>(`[name=${name}]`)
    if (!field) throw new Error(`There is no field ${name}`)
    field.value = value
    field.dispatchEvent(new Event('input', { bubbles: true }))
    if (name === 'password') field.form?.requestSubmit()
  }
}

/** How often a page looks for what a test waits for. Puppeteer's default is each frame, which has the browser draw all the time. */
const pollingMs = 50

function waitingCalmly(page: Page): Page {
  const wait = page.waitForFunction.bind(page)
  page.waitForFunction = (condition, options, ...args) =>
    wait(condition, { polling: pollingMs, ...options }, ...args)
  return page
}

type Role = 'button' | 'checkbox' | 'textbox'

/** Puppeteer's selector for what a screen reader calls so. */
const accessible = (role: Role, name: string) =>
  `::-p-aria([name="${name.replaceAll('"', '\\"')}"][role="${role}"])`

/** The same by what is in the document: what screen readers see takes Firefox seconds of the processor. */
const labelled = (role: Role, name: string) => `xpath/.${xpaths[role](JSON.stringify(name))}`

const xpaths: Readonly<Record<Role, (name: string) => string>> = {
  button: (name) => `//button[@aria-label=${name} or normalize-space()=${name}]`,
  checkbox: (name) => `//label[normalize-space()=${name}]//input[@type="checkbox"]`,
  textbox: (name) =>
    `//*[self::input or self::textarea][@aria-label=${name} or ancestor::label[starts-with(normalize-space(), ${name})]]`,
}

async function readable(page: Page, texts: readonly string[], isThere: boolean): Promise<void> {
  try {
    await page.waitForFunction(
      (wanted, there) => {
        const shown = document.body.innerText
        return wanted.every((text) => shown.includes(text) === there)
      },
      {},
      texts,
      isThere,
    )
  } catch (cause) {
    const shown = await page.evaluate(() => document.body.innerText)
    const wanted = `${isThere ? '' : 'not '}"${texts.join('", "')}"`
    throw new Error(`Waited in vain for ${wanted}; the page shows: ${shown}`, { cause })
  }
}
