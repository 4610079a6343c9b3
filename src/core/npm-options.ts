// Detects options that npm consumed because `--` was missing. npm passes them only as `npm_config_*`, and their values
// as plain arguments. Invariant: reports only options of this command line, not npm's own configuration.

/**
 * Program options (such as `dry-run`) that npm consumed. `settings` is the text of npm's config files, whose entries
 * look the same.
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
