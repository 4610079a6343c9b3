// The completion of bash and fish, made from a small tree of commands and used by the shells that this machine has.

import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { completionScript } from '../../src/cli/completion.ts'

const leaf = { options: [], choices: [], commands: [] }
const TREE = [
  {
    ...leaf,
    name: 'keys',
    does: 'manage keys',
    options: [['--url', "a gateway's URL"]] as const,
    commands: [{ ...leaf, name: 'create', does: 'create a key', options: [['--label', 'a name']] as const }],
  },
  { ...leaf, name: 'completion', does: 'print a script', choices: ['bash', 'zsh'] },
]

const complete = (...words: string[]) => {
  const line = `${completionScript('bash', TREE)}
COMP_WORDS=(weir ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _weir; echo "\${COMPREPLY[@]}"`
  return spawnSync('bash', ['-c', line], { encoding: 'utf8' }).stdout.trim()
}

test('completes commands, their subcommands, options and choices in bash', () => {
  expect(complete('')).toBe('keys completion')
  expect(complete('ke')).toBe('keys')
  expect(complete('keys', '')).toBe('create --url')
  expect(complete('keys', '--url', 'x', 'create', '--l')).toBe('--label')
  expect(complete('completion', 'z')).toBe('zsh')
  expect(complete('unknown', '')).toBe('keys completion')
})

test('quotes descriptions for fish', () => {
  expect(completionScript('fish', TREE)).toContain(
    `complete -c weir -n 'test (__weir_path) = "weir keys"' -l url -d 'a gateway\\'s URL'`,
  )
})

test('loads the script of bash in zsh', () => {
  expect(completionScript('zsh', TREE)).toMatch(/^autoload -U \+X bashcompinit && bashcompinit\n_weir\(\)/)
})
