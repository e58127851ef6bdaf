export { SetupError } from '@holdfast/core'
export { resolveConfig, type Config, type ConfigSources } from './config/resolve-config.ts'
export { startServer, type RunningServer } from './serve/start-server.ts'
