// Options that npm kept for itself because no `--` stood before them: it hands them on as `npm_config_*` alone, and what
// was to be their value as a word. Law: only what was said on this line of this program; the rest is npm's own.

/** Options of the program (`dry-run`) that npm kept. `settings`: npm's own files, whose entries arrive alike. */
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
