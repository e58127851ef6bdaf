// An application on express and multer, as their documentation writes it: PORT and DIRECTORY come from the environment.
import { readdir, unlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import express from 'express'
import multer from 'multer'

const { PORT, DIRECTORY } = process.env
const storage = multer.diskStorage({
  destination: DIRECTORY,
  filename: (_request, file, take) => take(null, basename(file.originalname)),
})
const app = express()

app.get('/ping', (_request, response) => response.send('pong'))
app.post('/upload', multer({ storage }).single('file'), (_request, response) => response.send('OK'))
app.get('/serve/:filename', (request, response) =>
  response.sendFile(request.params.filename, { root: DIRECTORY }),
)
app.get('/list', async (_request, response) => response.json((await readdir(DIRECTORY)).sort()))
app.delete('/delete/:filename', async (request, response) => {
  await unlink(join(DIRECTORY, basename(request.params.filename)))
  response.send('OK')
})
app.listen(PORT, '127.0.0.1')
