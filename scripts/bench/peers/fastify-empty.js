// The first answer of an application that has nothing to do. PORT comes from the environment.
import fastify from 'fastify'

const app = fastify()
app.get('/ping', async () => 'pong')
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
