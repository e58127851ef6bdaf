import { connect } from 'node:net'

/** Whether nobody accepts a connection to `port` of `host`. */
export async function refuses(host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port })
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') resolve(true)
      else reject(error)
    })
  })
}
