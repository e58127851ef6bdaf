import type { Server, Socket } from 'node:net'

/**
 * From now on finds the TCP connection below a TLS connection of `server`, which speaks HTTPS, during the handshake and
 * after it. Node reports the two by separate events, so they are matched by the addresses and ports of
 * their ends.
 */
export function createWireFinder(server: Server): (socket: Socket) => Socket | undefined {
  const wires = new Map<string, Socket>()
  server.on('connection', (wire: Socket) => {
    const ends = endsOf(wire)
    wires.set(ends, wire)
    wire.once('close', () => {
      // A new connection may have the same ends before the old one's close is reported.
      if (wires.get(ends) === wire) wires.delete(ends)
    })
  })
  return (socket) => wires.get(endsOf(socket))
}

function endsOf(socket: Socket): string {
  const { remoteAddress, remotePort, localAddress, localPort } = socket
  return [remoteAddress, remotePort, localAddress, localPort].join(' ')
}
