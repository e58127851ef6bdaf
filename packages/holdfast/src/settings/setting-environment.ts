import {
  environmentName,
  secretNames,
  secretVariables,
  type SettingName,
} from '@holdfast/server/config'

/**
 * The environment of this process as far as it concerns the settings `names`, the secrets and the configuration file, for
 * a command that needs no others: what is wrong with the server's port is not in the way of a copy.
 */
export function settingEnvironment(names: readonly SettingName[]): NodeJS.ProcessEnv {
  const secretVariableNames = secretNames.flatMap((name) => Object.values(secretVariables(name)))
  const variables = ['HOLDFAST_CONFIG', ...names.map(environmentName), ...secretVariableNames]
  return Object.fromEntries(variables.map((name) => [name, process.env[name]]))
}
