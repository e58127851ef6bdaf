export { findConfig, type Config } from './resolve-config.ts'
export { parsePeriod, parseTime } from './parse-setting.ts'
export type { WrittenSettings } from './read-config-file.ts'
export { minioSecretNames, secretNames, secretRemedy, secretVariables } from './secrets.ts'
export {
  environmentName,
  settingNames,
  settings,
  type SettingName,
  type StoreKind,
} from './settings.ts'
export { warnOfVariables } from './warn-of-variables.ts'
