export {
  openEngine,
  EngineAwayError,
  type Engine,
  type EngineOptions,
  type Servers,
} from './engine.ts'
