// It uploads and downloads a large file in each browser.
import { open, readdir, stat, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makeTemporaryDirectory, until, type TemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { signedIn, type SignedIn } from './signed-in.ts'
import { treeMemoryMiB } from './tree-memory.ts'

const mebibyte = 1024 ** 2
/** Three times what a browser may take in addition. */
const size = 384 * mebibyte
/** What passes the line before it breaks. */
const passing = 48 * mebibyte
/** What all processes of a browser may take in addition, at any time. It was 10 MiB at most when this was written. */
const allowedMiB = 128
const limitMs = 300_000

describeInBrowsers('A large file by the page', (browser) => {
  let disk: TemporaryDirectory
  let film: string

  before(async () => {
    disk = await makeTemporaryDirectory()
    film = await writeFilm(disk.path)
  })
  after(() => disk.remove())

  /** The most memory that the browser takes while `work` goes on, beyond what it had before. */
  async function growthDuring(work: () => Promise<unknown>): Promise<number> {
    const pid = browser().browser.process()?.pid ?? 0
    const before = await treeMemoryMiB(pid)
    expect(before, 'MiB of the browser').to.be.above(0)
    const worked = new AbortController()
    const measured = mostUntil(worked.signal, () => treeMemoryMiB(pid))
    await work().finally(() => worked.abort())
    return (await measured) - before
  }

  /** Uploads it over a line that breaks. */
  async function upload({ site, driver }: SignedIn): Promise<void> {
    site.line.holdAfter(passing)
    await driver.choose('Upload', film)
    await site.line.held()
    site.line.cut()
    await driver.reads('The connection broke. Trying again.')
    site.line.mend()
    const done = driver.page.locator('.uploads ::-p-text(All uploads are done)')
    await done.setTimeout(limitMs).wait()
  }

  async function download({ driver }: SignedIn): Promise<void> {
    await driver.press('button', 'Download film.bin')
    const isSaved = async () => (await filesOfItsSize(browser().home)).length === 1
    await until('the browser has saved it', isSaved, limitMs)
  }

  it(`goes up from the disk and down to it, within ${allowedMiB} MiB of memory of all of the browser`, async function () {
    this.timeout(3 * limitMs)
    await using opened = await signedIn(browser())
    const { site } = opened
    const up = await growthDuring(() => upload(opened))
    await expectCopy(film, join(site.path, 'data'))
    // What had come before the line broke is not sent again.
    expect(site.line.passed()).to.be.below(size + passing / 2)

    const down = await growthDuring(() => download(opened))
    await expectCopy(film, browser().home)
    expect(up, 'MiB for the upload').to.be.below(allowedMiB)
    expect(down, 'MiB for the download').to.be.below(allowedMiB)
  })
})

/** Writes a file, each mebibyte of which differs from all others; most of it takes no room on the disk. */
async function writeFilm(folder: string): Promise<string> {
  const path = join(folder, 'film.bin')
  await using file = await open(path, 'w')
  for (let at = 0; at < size; at += mebibyte) await file.write(`at ${at}`, at)
  await file.truncate(size)
  return path
}

async function mostUntil(signal: AbortSignal, measure: () => Promise<number>): Promise<number> {
  let most = 0
  while (!signal.aborted) {
    most = Math.max(most, await measure())
    // To measure costs much.
    await delay(400)
  }
  return most
}

async function filesOfItsSize(folder: string): Promise<readonly string[]> {
  const paths = (await readdir(folder, { recursive: true })).map((path) => join(folder, path))
  const sizes = await Promise.all(paths.map(sizeOf))
  return paths.filter((_, index) => sizes[index] === size)
}

// Browsers and servers remove files at any time.
const sizeOf = (path: string) =>
  stat(path).then(
    (found) => found.size,
    () => 0,
  )

/** Compares the one file of its size in `folder` with `film`, byte by byte. */
async function expectCopy(film: string, folder: string): Promise<void> {
  const [path = '', ...others] = await filesOfItsSize(folder)
  expect(others).to.deep.equal([])
  await using expected = await open(film)
  await using copy = await open(path)
  for (let at = 0; at < size; at += mebibyte) {
    const [one, other] = await Promise.all([read(expected, at), read(copy, at)])
    if (!one.equals(other)) throw new Error(`The copy differs in the mebibyte from ${at} on`)
  }
}

async function read(file: FileHandle, position: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(mebibyte), { position })
  return buffer.subarray(0, bytesRead)
}
