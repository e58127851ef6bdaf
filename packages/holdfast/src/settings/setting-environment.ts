import {
  environmentName,
  secretNames,
  secretVariables,
  type SettingName,
} from '@holdfast/server/config'

/**
 * The variables of this process for the settings `names`, the secrets and the configuration file. A command that needs no
 * others should not fail because of them: a copy does not need the server's port.
 */
export function settingEnvironment(names: readonly SettingName[]): NodeJS.ProcessEnv {
  const secretVariableNames = secretNames.flatMap((name) => Object.values(secretVariables(name)))
  const variables = ['HOLDFAST_CONFIG', ...names.map(environmentName), ...secretVariableNames]
  return Object.fromEntries(variables.map((name) => [name, process.env[name]]))
}
