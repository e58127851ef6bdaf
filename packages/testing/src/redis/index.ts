export { startRedis, type RedisOptions, type RunningRedis } from './start-redis.ts'
export { startSentinels, type RunningSentinels } from './start-redis.ts'
export { startRedisCluster, type RunningCluster } from './start-redis.ts'
export {
  startFaultyProxy,
  type Direction,
  type FaultyProxy,
  type FaultyProxyOptions,
} from './start-faulty-proxy.ts'
