export { startRedis, type RedisOptions, type RunningRedis } from './start-redis.ts'
export { startSentinels, type RunningSentinels } from './start-sentinels.ts'
export { startRedisCluster, type RunningCluster } from './start-redis-cluster.ts'
export {
  startFaultyProxy,
  type Direction,
  type FaultyProxy,
  type FaultyProxyOptions,
} from './start-faulty-proxy.ts'
