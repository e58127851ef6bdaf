export {
  startRedis,
  type RedisOptions,
  type RunningRedis,
  startSentinels,
  type RunningSentinels,
  startRedisCluster,
  type RunningCluster,
} from './start-redis.ts'
export {
  startFaultyProxy,
  type Direction,
  type FaultyProxy,
  type FaultyProxyOptions,
} from './start-faulty-proxy.ts'
