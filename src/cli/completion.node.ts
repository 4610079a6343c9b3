// `weir completion SHELL`: a completion script made from the commands themselves.

import { Argument } from '@commander-js/extra-typings'
import type { AnyCommand } from '../core/command-line.node.ts'
import { type CompletionTree, completionScript, SHELLS } from './completion.ts'
import { type Shell, weirProgram } from './shell.node.ts'

export function completionProgram(shell: Shell, load: (shell: Shell) => Promise<readonly AnyCommand[]>): AnyCommand {
  return weirProgram('completion', ['bash', 'zsh', 'fish'])
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .action(async (name) => {
      const commands = await load(shell)
      const trees = commands.map((command) => ({ ...treeOf(command), name: command.name().split(' ').at(-1) ?? '' }))
      shell.print(completionScript(name, trees))
    })
}

function treeOf(command: AnyCommand): CompletionTree {
  return {
    name: command.name(),
    does: command.description(),
    options: command
      .createHelp()
      .visibleOptions(command)
      .map(({ long, description }) => [long ?? '', description]),
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    commands: command.commands.map(treeOf),
  }
}
