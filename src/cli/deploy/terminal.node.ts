// Questions to a person at a terminal.

import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'

export interface Terminal {
  /** False: nobody can answer. */
  readonly isInteractive: boolean
  /** An empty answer is the default. */
  ask(question: string, byDefault: string | null): Promise<string>
  /** A secret: hidden on a terminal, otherwise all of standard input. */
  secret(question: string): Promise<string>
}

export function processTerminal(): Terminal {
  const { stdin, stderr } = process
  const isInteractive = stdin.isTTY === true && stderr.isTTY === true
  const askOn = async (output: NodeJS.WritableStream, question: string) => {
    const lines = createInterface({ input: stdin, output, terminal: true })
    try {
      return (await lines.question(question)).trim()
    } finally {
      lines.close()
    }
  }
  return {
    isInteractive,
    async ask(question, byDefault) {
      const answer = await askOn(stderr, `${question}${byDefault === null ? '' : ` (${byDefault})`}: `)
      return answer === '' ? (byDefault ?? '') : answer
    },
    async secret(question) {
      if (!isInteractive) return String(await buffer(stdin)).trim()
      stderr.write(`${question}: `)
      const answer = await askOn(new Writable({ write: (_, __, done) => done() }), '')
      stderr.write('\n')
      return answer
    },
  }
}
