import createClient from 'openapi-fetch'
import type { paths } from '../generated/openapi-fetch/schema.js'

const [, , baseUrl = '', name = '', formName = ''] = process.argv

const clientOf = (password: string) =>
  createClient<paths>({
    baseUrl,
    headers: { 'x-auth-name': 'demo', 'x-auth-password': password },
  })
const client = clientOf('correct horse')
const content = Uint8Array.from({ length: 256 }, (_, index) => index)
const path = { filename: name }

// The schema says `string` of binary content; it goes as it is.
const file = {
  params: { path },
  headers: { 'Content-Type': 'application/octet-stream' },
  body: content as unknown as string,
  bodySerializer: (body: unknown) => body,
  parseAs: 'text',
} as const

const uploaded = await client.PUT('/upload/{filename}', file)
const uploadedForm = await client.POST('/upload', {
  body: { file: new File([content], formName) as unknown as string },
  bodySerializer(body) {
    const form = new FormData()
    form.append('file', body.file as unknown as File)
    return form
  },
  parseAs: 'text',
})
const names = await client.GET('/list', { params: { query: { limit: 10 } } })
const details = await client.GET('/list', { params: { query: { details: 1 } } })
const download = await client.GET('/serve/{filename}', { params: { path }, parseAs: 'arrayBuffer' })
const part = await client.GET('/serve/{filename}', {
  params: { path, header: { Range: 'bytes=254-' } },
  parseAs: 'arrayBuffer',
})
const taken = await client.PUT('/upload/{filename}', {
  ...file,
  params: { path, header: { 'If-None-Match': '*' } },
})
const deleted = await client.DELETE('/delete/{filename}', { params: { path }, parseAs: 'text' })
const missing = await client.GET('/serve/{filename}', { params: { path } })
const refused = await clientOf('wrong').GET('/list')

const hex = (data?: ArrayBuffer) => Buffer.from(data ?? new ArrayBuffer()).toString('hex')
console.log(
  JSON.stringify({
    uploaded: uploaded.data,
    uploadedForm: uploadedForm.data,
    names: names.data,
    sizes: details.data?.map((entry) => (typeof entry === 'string' ? entry : entry.size)),
    content: hex(download.data),
    part: hex(part.data),
    taken: taken.error?.message,
    deleted: deleted.data,
    missing: missing.error?.message,
    refused: refused.error?.message,
  }),
)
