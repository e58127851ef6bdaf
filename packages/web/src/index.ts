import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The files of the page by their paths below its address: `''` is the page itself, others are such as `assets/index-1a2b.js`. `upload` is
 * the page for holders of a link to upload; its `<head>` needs `<meta name="link">` with the terms in JSON.
 */
export type Page = ReadonlyMap<string, PageFile>

export interface PageFile {
  /** Headers of the response: the type, how long it may be cached, and what it may do. */
  readonly headers: Readonly<Record<string, string>>
  /** A strong tag, with its quotes; each encoding has its own (RFC 9110 §8.8.3.3). */
  readonly etags: Readonly<Record<Encoding, string>>
  readonly contents: Readonly<Record<Encoding, Uint8Array>>
}

export type Encoding = 'identity' | 'gzip' | 'br'

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
}

const builtPage = join(import.meta.dirname, 'page')

/** Reads the page from the `folder` of its build into memory, in all encodings: about 300 KB. Default: the build in this package. */
export async function openPage(folder = builtPage): Promise<Page> {
  const names = await readdir(join(folder, 'assets'))
  const assets = names.filter((name) => extensionOf(name) in types).map((name) => `assets/${name}`)
  const files = ['index.html', 'upload/index.html', ...assets].map(async (path) => {
    const key = path.replace(/\/?index\.html$/, '')
    return [key, await readPageFile(folder, path)] as const
  })
  return new Map(await Promise.all(files))
}

async function readPageFile(folder: string, path: string): Promise<PageFile> {
  const [identity, gzip, br] = await Promise.all(
    ['', '.gz', '.br'].map((suffix) => readFile(join(folder, path + suffix))),
  )
  if (!identity || !gzip || !br) throw new Error(`${path} is not complete`)
  const digest = createHash('sha256').update(identity).digest('base64url').slice(0, 22)
  const extension = extensionOf(path)
  return {
    headers: { 'Content-Type': types[extension] ?? '', ...pageHeaders(extension === 'html') },
    etags: { identity: `"${digest}"`, gzip: `"${digest}.gz"`, br: `"${digest}.br"` },
    contents: { identity, gzip, br },
  }
}

function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

/**
 * Scripts and styles come only from files of this server, and no string becomes HTML or a script. Files of customers are shown as images,
 * sounds and films, which run nothing, or in frames whose type the page has chosen.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** The headers of the page, or of one of its assets, whose names change with their contents. */
function pageHeaders(isPage: boolean): Readonly<Record<string, string>> {
  return {
    'Cache-Control': isPage ? 'no-cache' : 'public, max-age=31536000, immutable',
    'Content-Security-Policy': policy,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  }
}
