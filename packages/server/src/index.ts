export { UsageError } from './config/usage-error.ts'
export { resolveConfig, type Config, type ConfigSources } from './config/resolve-config.ts'
export { startServer, type RunningServer } from './serve/start-server.ts'
