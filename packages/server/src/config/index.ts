export { findConfig, type Config } from './resolve-config.ts'
export { parsePeriod, parseTime } from './parse-setting.ts'
export type { WrittenSettings } from './read-config-file.ts'
export {
  minioSecretNames,
  secretNames,
  secretRemedy,
  secretVariables,
  warnOfVariables,
} from './environment.ts'
export {
  environmentName,
  settingNames,
  settings,
  type SettingName,
  type StoreKind,
} from './settings.ts'
