import { deleteFile, listFiles, serveFile, uploadFile, uploadForm } from '../generated/orval/api.js'

const [, , baseUrl = '', name = '', formName = ''] = process.argv

// The generated functions ask for paths: an application gives them their origin, as a browser's page has one.
const { fetch } = globalThis
globalThis.fetch = (target, init) => fetch(new URL(String(target), baseUrl), init)

const as = (password: string): RequestInit => ({
  headers: { 'x-auth-name': 'demo', 'x-auth-password': password },
})
const demo = as('correct horse')
const content = Uint8Array.from({ length: 256 }, (_, index) => index)
const file = new Blob([content])

const uploaded = await uploadFile(name, file, demo)
const uploadedForm = await uploadForm({ file: new File([content], formName) }, demo)
const names = await listFiles({ limit: 10 }, demo)
const details = await listFiles({ details: 1 }, demo)
const download = await serveFile(name, {}, demo)
const part = await serveFile(name, {}, { headers: { ...demo.headers, Range: 'bytes=254-' } })
const taken = await uploadFile(name, file, { headers: { ...demo.headers, 'If-None-Match': '*' } })
const deleted = await deleteFile(name, demo)
const missing = await deleteFile(name, demo)
const refused = await listFiles({}, as('wrong'))

const hex = async (data: Blob) => Buffer.from(await data.arrayBuffer()).toString('hex')
console.log(
  JSON.stringify({
    uploaded: uploaded.data,
    uploadedForm: uploadedForm.data,
    names: names.data,
    sizes:
      details.status === 200 &&
      details.data.map((entry) => (typeof entry === 'string' ? entry : entry.size)),
    content: download.status === 200 && (await hex(download.data)),
    part: part.status === 206 && (await hex(part.data)),
    taken: taken.status === 412 && taken.data.message,
    deleted: deleted.data,
    missing: missing.status === 400 && missing.data.message,
    refused: refused.status === 400 && refused.data.message,
  }),
)
