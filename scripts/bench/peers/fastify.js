// An application on fastify with its plugins, as their documentation writes it: PORT and DIRECTORY come from the
// environment.
import { createWriteStream, readFileSync } from 'node:fs'
import { readdir, unlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import multipart from '@fastify/multipart'
import files from '@fastify/static'
import fastify from 'fastify'

const { PORT, DIRECTORY, CERTIFICATE, KEY } = process.env
const app = fastify(
  CERTIFICATE ? { https: { cert: readFileSync(CERTIFICATE), key: readFileSync(KEY) } } : {},
)
app.register(multipart, { limits: { fileSize: Infinity } })
app.register(files, { root: DIRECTORY, prefix: '/serve/' })

app.get('/ping', async () => 'pong')
app.post('/upload', async (request) => {
  const part = await request.file()
  await pipeline(part.file, createWriteStream(join(DIRECTORY, basename(part.filename))))
  return 'OK'
})
app.addContentTypeParser('*', (_request, body, done) => done(null, body))
app.put('/upload/:filename', async (request) => {
  const { filename } = request.params
  await pipeline(request.body, createWriteStream(join(DIRECTORY, basename(filename))))
  return 'OK'
})
app.get('/list', async () => (await readdir(DIRECTORY)).sort())
app.delete('/delete/:filename', async (request) => {
  await unlink(join(DIRECTORY, basename(request.params.filename)))
  return 'OK'
})
await app.listen({ port: Number(PORT), host: '127.0.0.1' })
