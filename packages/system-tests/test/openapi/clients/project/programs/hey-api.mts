import { createClient } from '../generated/hey-api/client/index.js'
import {
  deleteFile,
  listFiles,
  serveFile,
  uploadFile,
  uploadForm,
} from '../generated/hey-api/sdk.gen.js'

const [, , baseUrl = '', filename = '', formName = ''] = process.argv

const clientOf = (password: string) =>
  createClient({
    baseUrl,
    auth: ({ name }) => (name === 'x-auth-name' ? 'demo' : password),
  })
const client = clientOf('correct horse')
const content = Uint8Array.from({ length: 256 }, (_, index) => index)
const path = { filename }

const uploaded = await uploadFile({ client, path, body: new Blob([content]) })
const uploadedForm = await uploadForm({ client, body: { file: new File([content], formName) } })
const names = await listFiles({ client, query: { limit: 10 } })
const details = await listFiles({ client, query: { details: 1 } })
const download = await serveFile({ client, path, parseAs: 'blob' })
const part = await serveFile({ client, path, parseAs: 'blob', headers: { Range: 'bytes=254-' } })
const taken = await uploadFile({
  client,
  path,
  body: new Blob([content]),
  headers: { 'If-None-Match': '*' },
})
const deleted = await deleteFile({ client, path })
const missing = await serveFile({ client, path })
const refused = await listFiles({ client: clientOf('wrong') })

const hex = async (data: Blob | undefined) =>
  Buffer.from((await data?.arrayBuffer()) ?? new ArrayBuffer()).toString('hex')
console.log(
  JSON.stringify({
    uploaded: uploaded.data,
    uploadedForm: uploadedForm.data,
    names: names.data,
    sizes: details.data?.map((entry) => (typeof entry === 'string' ? entry : entry.size)),
    content: await hex(download.data),
    part: await hex(part.data),
    taken: taken.error?.message,
    deleted: deleted.data,
    missing: missing.error?.message,
    refused: refused.error?.message,
  }),
)
