// The message of a release's tag. It contains the checksums and their signature, so that the repository alone is enough to
// compare a build with the releaser's.

/** Git would take an unindented signature in a message for the one of the tag. */
const INDENT = '  '

interface TagContent {
  readonly version: string
  /** Names and versions of the programs that built the files. */
  readonly tools: string
  /** The text of SHA256SUMS. */
  readonly checksums: string
  /** The text of SHA256SUMS.sig. */
  readonly signature: string | null
}

export function tagMessage({ version, tools, checksums, signature }: TagContent): string {
  const signed = signature === null ? [] : ['', 'SHA256SUMS.sig:', ...indented(signature)]
  return [`Weir ${version}`, '', `Built with ${tools}.`, '', 'SHA256SUMS:', ...indented(checksums), ...signed, ''].join(
    '\n',
  )
}

export function checksumsIn(message: string): string {
  return blockOf(message, 'SHA256SUMS') ?? ''
}

/** Null: the releaser did not sign. */
export function signatureIn(message: string): string | null {
  return blockOf(message, 'SHA256SUMS.sig')
}

/** Names of the files that only one list has, or that have two checksums. */
export function differingFiles(expected: string, actual: string): string[] {
  const lines = (text: string) => text.split('\n').filter((line) => line !== '')
  const left = new Set(lines(expected))
  const right = new Set(lines(actual))
  const differing = [...left, ...right].filter((line) => !left.has(line) || !right.has(line))
  return [...new Set(differing.map((line) => line.split('  ').at(-1) ?? line))].sort()
}

const indented = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => INDENT + line)

function blockOf(message: string, name: string): string | null {
  const lines = message.split('\n')
  const at = lines.indexOf(`${name}:`)
  if (at < 0) return null
  const rest = lines.slice(at + 1)
  const end = rest.findIndex((line) => !line.startsWith(INDENT))
  const block = end < 0 ? rest : rest.slice(0, end)
  return block.map((line) => `${line.slice(INDENT.length)}\n`).join('')
}
