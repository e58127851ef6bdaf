import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formOf, withForm } from '../load/form.ts'
import { sendRequests } from '../load/send-requests.ts'
import { upload } from '../load/upload.ts'
import { createHoldfast } from '../subjects/holdfast.ts'
import type { RunningSubject } from '../subjects/subject.ts'
import { callTree, type CpuProfile } from './call-tree.ts'
import { renderFlame } from './render-flame.ts'

interface HotPath {
  readonly name: string
  readonly title: string
  readonly run: (server: RunningSubject) => Promise<unknown>
}

const seconds = 5
const content = Buffer.alloc(4096, 'holdfast')

const hotPaths: readonly HotPath[] = [
  {
    name: 'get-4kib',
    title: 'GET of 4 KiB, 32 connections',
    run: async ({ port, files, get }) => {
      await writeFile(join(files, 'small'), content)
      await sendRequests({ port, request: get('small'), seconds })
    },
  },
  {
    name: 'post-4kib',
    title: 'POST of 4 KiB as a form, 32 connections',
    run: ({ port, form }) => {
      const request = withForm(form?.() ?? unable(), formOf(['{n}'], content))
      return sendRequests({ port, request, seconds, count: 1000 })
    },
  },
  {
    name: 'put-1gib',
    title: 'Upload of 1 GiB by PUT',
    run: ({ port, put }) => upload(port, put?.('large') ?? unable(), 1024 ** 3),
  },
]

const root = join(import.meta.dirname, '../../..')
const [out = '.'] = process.argv.slice(2)
await mkdir(out, { recursive: true })
for (const path of hotPaths) {
  const picture = renderFlame(path.title, await profile(path))
  const file = join(out, `flame-${path.name}.svg`)
  await writeFile(file, picture)
  process.stdout.write(`${file}: ${Math.round(picture.length / 1024)} KiB\n`)
}

/** Has a server of its own run a path under Node's profiler; what was called from its beginning to its end. */
async function profile({ run }: HotPath) {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-flame-'))
  try {
    const profiles = join(directory, 'profiles')
    const options = `--cpu-prof --cpu-prof-interval=500 --cpu-prof-dir=${profiles}`
    const environment = { NODE_OPTIONS: options }
    const server = await createHoldfast('holdfast', root).start(directory, { environment })
    const from = microseconds()
    try {
      await run(server)
    } finally {
      await server.stop()
    }
    const [file = ''] = await readdir(profiles)
    const text = await readFile(join(profiles, file), 'utf8')
    return callTree(JSON.parse(text) as CpuProfile, from, Infinity)
  } finally {
    await rm(directory, { recursive: true })
  }
}

/** By the clock that profiles are written by. */
function microseconds(): number {
  return Number(process.hrtime.bigint() / 1000n)
}

function unable(): never {
  throw new Error('holdfast takes uploads in every way')
}
