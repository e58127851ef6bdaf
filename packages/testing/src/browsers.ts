import type { ChildProcess } from 'node:child_process'
import { join, delimiter } from 'node:path'
import { existsSync } from 'node:fs'
import {
  launch,
  type Browser,
  type BrowserContext,
  type LaunchOptions,
  type Page,
} from 'puppeteer-core'
import { makeTemporaryDirectory } from './site.ts'
import { until } from './until.ts'

export type { BrowserContext, Page } from 'puppeteer-core'

export interface BrowserOptions {
  /** Further arguments of the program. */
  readonly args?: readonly string[]
  /** Settings of `about:config`, for Firefox only. */
  readonly preferences?: Readonly<Record<string, string | number | boolean>>
  /** Whether Puppeteer watches the network. For that, Firefox keeps whole requests and responses in memory. Default: true. */
  readonly watchesNetwork?: boolean
}

/** A real browser without a window, with its own profile. */
export interface OpenBrowser extends AsyncDisposable {
  readonly name: BrowserName
  /** Puppeteer's object, for everything else. */
  readonly browser: Browser
  /** The directory of its profile, of temporary files, and of downloads, in `Downloads`; `close` removes it. */
  readonly home: string
  /** Opens a page with its own storage, cookies and cache, as for another user. */
  newPage(): Promise<Page>
  /** Opens a context whose pages share storage, cookies and cache until it is closed. */
  newContext(): Promise<BrowserContext>
  /** Ends the browser with all its processes, even if it has crashed, and removes its profile. */
  close(): Promise<void>
}

/** Time limit of all waits of a page, since a loaded machine may stand still for seconds. */
const timeoutMs = 60_000

/** How many of the last characters on a browser's standard error are kept: more than the stack of a crash has. */
const mostStderr = 10_000

/**
 * Starts a browser. It needs no network, no terminal and no home directory, and runs as root.
 *
 * Puppeteer drives both browsers by the protocols that Debian's packages support: Chromium by its own, Firefox by WebDriver BiDi. If a
 * browser dies, the console gets a report with the end of its standard error: Puppeteer only reports that it is gone.
 *
 * @throws Error that names the remedy if the browser is not installed
 */
export async function openBrowser(
  name: BrowserName,
  options: BrowserOptions = {},
): Promise<OpenBrowser> {
  const executablePath = findBrowser(name)
  // Chromium listens on a Unix socket in this directory, whose path may have at most 107 bytes (unix(7)); `TMPDIR` may be long.
  const home = await makeTemporaryDirectory('/tmp')
  const browser = await launch({
    ...ofBrowser(name, options),
    executablePath,
    headless: true,
    networkEnabled: options.watchesNetwork ?? true,
    timeout: timeoutMs,
    protocolTimeout: 3 * timeoutMs,
    env: { ...process.env, HOME: home.path, TMPDIR: home.path },
  }).catch(async (error: unknown) => {
    await home.remove()
    throw error
  })
  const downloadPath = join(home.path, 'Downloads')
  const newContext = () =>
    browser.createBrowserContext({ downloadBehavior: { policy: 'allow', downloadPath } })
  let isClosing = false
  const child = browser.process()
  if (child) reportDeath(name, child, () => isClosing)
  const close = async () => {
    // A browser that is not connected has died before.
    isClosing = browser.connected
    await browser.close()
    await home.remove()
  }
  return {
    name,
    browser,
    home: home.path,
    newContext,
    async newPage() {
      const page = await (await newContext()).newPage()
      page.setDefaultTimeout(timeoutMs)
      return page
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Reports on the console how the browser's process has ended, unless this process closes it. */
function reportDeath(name: BrowserName, child: ChildProcess, isClosing: () => boolean): void {
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-mostStderr)
  })
  child.once('close', (code, signal) => {
    if (!isClosing()) console.warn(`${name} has died of ${signal ?? code}: ${stderr}`)
  })
}

function ofBrowser(name: BrowserName, { args = [], preferences }: BrowserOptions): LaunchOptions {
  if (name === 'firefox') {
    return {
      browser: 'firefox',
      args: [...args],
      ...(preferences && { extraPrefsFirefox: preferences }),
    }
  }
  // Chromium's own sandbox does not work for root, and it opens only pages of the tests.
  return {
    browser: 'chrome',
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', ...args],
    // The browser ends with the test's process, in whatever way that ends.
    pipe: true,
  }
}

interface Candidates {
  /** The environment variable that names the program. */
  readonly variable: string
  /** The programs to search for in `PATH`, in this order, as `scripts/programs.sh` does. */
  readonly programs: readonly string[]
  readonly debianPackage: string
}

const candidates: Readonly<Record<BrowserName, Candidates>> = {
  chromium: {
    variable: 'HOLDFAST_BROWSER',
    programs: ['chromium', 'chromium-browser', 'google-chrome'],
    debianPackage: 'chromium',
  },
  firefox: {
    variable: 'HOLDFAST_FIREFOX',
    programs: ['firefox-esr', 'firefox'],
    debianPackage: 'firefox-esr',
  },
}

/**
 * The path of a browser's program: the one that `HOLDFAST_BROWSER` (Chromium) or `HOLDFAST_FIREFOX` names, or the first one found in
 * `PATH`.
 *
 * @throws Error that names the remedy if there is none
 */
export function findBrowser(name: BrowserName, env: NodeJS.ProcessEnv = process.env): string {
  const { variable, programs, debianPackage } = candidates[name]
  const folders = (env['PATH'] ?? '').split(delimiter)
  const found = programs
    .flatMap((program) => folders.map((folder) => join(folder, program)))
    .find((path) => existsSync(path))
  const program = env[variable] || found
  if (program === undefined) {
    throw new Error(
      `This test needs ${programs.join(' or ')} in PATH, or ${variable}=PATH (Debian: apt-get install ${debianPackage})`,
    )
  }
  return program
}

/** The browsers for tests of pages: Chromium of any kind, and Firefox. */
export const browserNames = ['chromium', 'firefox'] as const

export type BrowserName = (typeof browserNames)[number]

/**
 * Opens an address in Chromium, and resolves with the document that it shows once everything in it is loaded and half a second has passed
 * without a request. With the CSS `selector`, also waits for such an element, for pages that a script draws. Resolves with '' if the
 * address turns out to be a download.
 *
 * @throws Error if there is no Chromium, or if the page is not complete within a minute
 */
export async function browse(url: string, selector?: string): Promise<string> {
  await using chromium = await openBrowser('chromium')
  const page = await chromium.newPage()
  const session = await page.createCDPSession()
  await session.send('Page.enable')
  let isDownload = false
  session.on('Page.downloadWillBegin', () => (isDownload = true))
  try {
    await page.goto(url, { waitUntil: 'networkidle0' })
    if (selector !== undefined) await page.waitForSelector(selector)
    return await page.content()
  } catch (error) {
    // A download ends the navigation with an error.
    await until('the address is a download', () => isDownload).catch(() => {
      throw error
    })
    return ''
  }
}
