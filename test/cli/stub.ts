// A stub of the admin API that records its requests, and a shell that records the output of a command.

import { text } from 'node:stream/consumers'
import type { Command } from '@commander-js/extra-typings'
import type { Shell } from '../../src/cli/shell.node.ts'
import { type AnyCommand, runProgram } from '../../src/core/command-line.node.ts'
import { startServer } from '../kit/http-server.ts'

interface Asked {
  /** Method and path. */
  readonly call: string
  readonly body: unknown
  readonly authorization: string | undefined
}

/** What it answers: a status and JSON, or text of any other kind. */
type Answer = (asked: Asked) => readonly [status: number, body: unknown] | string

export async function startStub(answer: Answer) {
  const seen: Asked[] = []
  const { url, close } = await startServer(async (request, response) => {
    const body = await text(request)
    const { authorization } = request.headers
    const asked = {
      call: `${request.method} ${request.url}`,
      body: body === '' ? null : JSON.parse(body),
      authorization,
    }
    seen.push(asked)
    const said = answer(asked)
    if (typeof said !== 'string') response.statusCode = said[0]
    response.end(typeof said === 'string' ? said : JSON.stringify(said[1]))
  })
  return { url, seen, stop: close }
}

/** A refusal as the admin API words it. */
export const refusal = (status: number, message: string) => [status, { error: true, error_message: message }] as const

/** Runs a line of a program, and answers what it said where, and whether it failed. */
export async function say(
  programOf: (shell: Shell) => Command,
  line: string | readonly string[],
  env: Shell['env'] = {},
): Promise<{ out: string[]; notes: string[]; failed: boolean }> {
  const said = { out: [] as string[], notes: [] as string[], failed: false }
  const shell: Shell = {
    env,
    now: () => Date.parse('2026-11-22T12:00Z'),
    wait: async () => undefined,
    print: (text) => said.out.push(text),
    note: (text) => said.notes.push(text),
    fail: () => {
      said.failed = true
    },
  }
  const program = programOf(shell)
  const quiet = (command: AnyCommand) => {
    command.configureOutput({ writeErr: (text) => said.notes.push(text), writeOut: (text) => said.out.push(text) })
    for (const each of command.commands) quiet(each)
  }
  quiet(program as AnyCommand)
  await runProgram(program, typeof line === 'string' ? line.split(' ') : line)
  if (process.exitCode) said.failed = true
  process.exitCode = undefined
  return said
}
