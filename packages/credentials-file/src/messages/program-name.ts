/**
 * How the reader of a message starts the program: `holdfast`, unless the script that started it gives another command in
 * `HOLDFAST_COMMAND`, as `scripts/start` of a clone does.
 */
export function programName(): string {
  return process.env['HOLDFAST_COMMAND'] || 'holdfast'
}
