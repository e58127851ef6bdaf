// @tus/server with its file store, as its documentation writes it: PORT and DIRECTORY come from the environment.
import { FileStore } from '@tus/file-store'
import { Server } from '@tus/server'

const { PORT, DIRECTORY } = process.env
const server = new Server({ path: '/files', datastore: new FileStore({ directory: DIRECTORY }) })
server.listen({ port: Number(PORT), host: '127.0.0.1' })
