// Completion scripts of shells. Each completes the names of commands and options after `weir`, and files elsewhere.

export const SHELLS = ['bash', 'zsh', 'fish'] as const

export interface CompletionTree {
  readonly name: string
  readonly does: string
  readonly options: readonly (readonly [long: string, does: string])[]
  /** Values that an argument can have. */
  readonly choices: readonly string[]
  readonly commands: readonly CompletionTree[]
}

/** A word that can follow `path`, the commands before it. */
interface Word {
  readonly path: string
  readonly word: string
  readonly does: string
}

export function completionScript(shell: (typeof SHELLS)[number], commands: readonly CompletionTree[]): string {
  const root = { name: 'weir', does: '', options: [], choices: [], commands }
  switch (shell) {
    case 'bash':
      return bashScript(root)
    case 'zsh':
      return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(root)}`
    case 'fish':
      return fishScript(root)
  }
}

function wordsOf(tree: CompletionTree, path: string): Word[] {
  const own = [
    ...tree.commands.map(({ name, does }) => ({ path, word: name, does })),
    ...tree.options.map(([word, does]) => ({ path, word, does })),
    ...tree.choices.map((word) => ({ path, word, does: '' })),
  ]
  return [...own, ...tree.commands.flatMap((command) => wordsOf(command, `${path} ${command.name}`))]
}

function pathsOf(tree: CompletionTree, path: string): string[] {
  return tree.commands.flatMap((command) => {
    const inner = `${path} ${command.name}`
    return [inner, ...pathsOf(command, inner)]
  })
}

function bashScript(root: CompletionTree): string {
  const words = Map.groupBy(wordsOf(root, root.name), ({ path }) => path)
  const cases = [...words].map(
    ([path, after]) => `    '${path}') words='${after.map(({ word }) => word).join(' ')}' ;;`,
  )
  return `_weir() {
  local path=weir words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path \${COMP_WORDS[i]}" in
      ${pathsOf(root, root.name)
        .map((path) => `'${path}'`)
        .join('|')}) path="$path \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _weir weir`
}

function fishScript(root: CompletionTree): string {
  const paths = pathsOf(root, root.name)
  const lines = wordsOf(root, root.name).map(({ path, word, does }) => {
    const kind = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
    return `complete -c weir -n 'test (__weir_path) = "${path}"' ${kind}${does === '' ? '' : ` -d ${quoted(does)}`}`
  })
  return `function __weir_path
  set -l path weir
  for word in (commandline -opc)[2..-1]
    contains -- "$path $word" ${paths.map(quoted).join(' ')}; and set path "$path $word"
  end
  echo $path
end
${lines.join('\n')}`
}

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
