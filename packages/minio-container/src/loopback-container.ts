import { GenericContainer } from 'testcontainers'

/**
 * A container that is reachable on 127.0.0.1 only, and by alias from its network's other containers. A class, since
 * testcontainers keeps what it takes for either to its subclasses.
 */
export class LoopbackContainer extends GenericContainer {
  /** Publishes a port on 127.0.0.1. The library leaves the address to the engine, whose default is all of them. */
  publish(container: number, host: number): this {
    this.withExposedPorts({ container, host })
    const binding = { HostIp: '127.0.0.1', HostPort: String(host) }
    this.hostConfig.PortBindings = { [`${container}/tcp`]: [binding] }
    return this
  }

  /**
   * Puts the container into the network `name` as `alias`. The library's own aliases would put it into the engine's
   * default network, too.
   */
  withAliasIn(name: string, alias: string): this {
    this.createOpts.NetworkingConfig = { EndpointsConfig: { [name]: { Aliases: [alias] } } }
    return this.withNetworkMode(name)
  }
}
