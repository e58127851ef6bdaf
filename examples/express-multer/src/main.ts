import { createFileService, isFileServiceError } from '@holdfast/core'
import { createMulterStorage, multerOptions, toProblem } from '@holdfast/http-koa'
import { openDiskBlobStore } from '@holdfast/store-disk'
import express, { type ErrorRequestHandler } from 'express'
import multer from 'multer'
import { pipeline } from 'node:stream/promises'
import { knowUsers } from './know-users.ts'

const { PORT = '3000', DATA = './data', MAX_FILE_SIZE = '1000000000' } = process.env

const store = await openDiskBlobStore({ directory: DATA })
const service = createFileService({ store, maxFileSize: Number(MAX_FILE_SIZE) })

const upload = multer({
  // Otherwise multer passes over files whose name it cannot read, and a text field `a[4294967294]` stops the process.
  ...multerOptions,
  // Was: multer.diskStorage({ destination: 'uploads' })
  storage: createMulterStorage<express.Request>({
    filesOf: (request) => service.filesOf({ name: request.user }),
  }),
  limits: { ...multerOptions.limits, fields: 10, parts: 20 },
})

const app = express()
app.use(knowUsers)

app.post('/reports', upload.array('file', 5), async (request, response) => {
  const files = request.files as Express.Multer.File[]
  try {
    if (!request.body?.title) {
      response.status(400).json({ message: 'A report has a title' })
      return
    }
    // The whole form has arrived. Until here no one sees a file of it; an answer says that all of them are safe.
    const stored = []
    for (const file of files) stored.push(await file.publish())
    response.status(201).json(stored.map(({ name, size }) => ({ name, size })))
  } finally {
    // What was not published, whatever the reason, goes; for what was, this does nothing.
    await Promise.all(files.map((file) => file.discard()))
  }
})

app.get('/files', async (request, response) => {
  const names = []
  for await (const page of service.filesOf({ name: request.user }).list()) names.push(...page)
  response.json(names)
})

app
  .route('/files/:name')
  .get(async (request, response) => {
    const { info, content } = await service
      .filesOf({ name: request.user })
      .serve(request.params.name)
    response.attachment(info.name).set('Content-Length', `${info.size}`)
    await pipeline(content, response)
  })
  .delete(async (request, response) => {
    await service.filesOf({ name: request.user }).delete(request.params.name)
    response.status(204).end()
  })

const answerErrors: ErrorRequestHandler = (error, _request, response, next) => {
  // An answer that has begun cannot be taken back: Express cuts the connection.
  if (response.headersSent) return next(error)
  if (isFileServiceError(error, 'not-found')) {
    response.status(404).json({ message: error.message })
  } else {
    const { status, message, headers } = toProblem(error)
    if (status >= 500) console.error(error)
    response.status(status).set(headers).json({ message })
  }
}
app.use(answerErrors)

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : PORT
  console.log(`Listening on http://127.0.0.1:${port}`)
})
// Node gives a whole request five minutes, which is little for a large file on a slow line. An idle client has one.
server.requestTimeout = 0
server.timeout = 60_000
process.once('SIGTERM', () => server.close(() => void store.close()))
