// Detects options that npm consumed because `--` was missing. npm passes such options only as `npm_config_*` variables,
// and their values as plain arguments. Invariant: only options of this command line are reported, not npm's own
// configuration.

/**
 * Options of the program, such as `dry-run`, that npm consumed. `settings`: the content of npm's configuration files,
 * whose settings appear in the same variables.
 */
export function optionsTakenByNpm(
  program: string,
  options: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  settings: string,
): string[] {
  const script = /^npm (?:run )?(\S+)/.exec(program)?.[1]
  if (script === undefined || env.npm_lifecycle_event !== script) return []
  return options
    .filter((option) => env[`npm_config_${option.replaceAll('-', '_')}`])
    .filter((option) => !new RegExp(`^\\s*${option}\\s*(?:=|$)`, 'm').test(settings))
}
