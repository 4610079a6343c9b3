// The published document of /ws, as code generators read it.

import { describe, expect, it } from 'vitest'
import { asyncApiDocument } from '../../../src/http/docs/asyncapi.ts'
import { CHANNELS } from '../../../src/relay/channels/catalogue.ts'
import { readFrame } from '../../../src/relay/client-frame.ts'

interface Message {
  readonly payload: { readonly properties: Readonly<Record<string, unknown>> }
  readonly examples: readonly { readonly payload: unknown }[]
}
type Refs = readonly { readonly $ref: string }[]
interface Operation {
  readonly action: string
  readonly messages: Refs
  readonly reply?: { readonly messages: Refs }
}

const document = asyncApiDocument(CHANNELS) as {
  components: { messages: Readonly<Record<string, Message>> }
  operations: Readonly<Record<string, Operation>>
}
const { messages } = document.components
const operations = Object.values(document.operations)
const exampleOf = (name: string) => messages[name]!.examples[0]!.payload
const named = (refs: Refs) => refs.map(({ $ref }) => $ref.split('/').at(-1)!)
/** Names of all messages in either direction. */
const sent = operations.filter(({ action }) => action === 'send').flatMap((one) => named(one.messages))
const brought = operations.flatMap(({ action, messages: own, reply }) =>
  named(action === 'receive' ? own : (reply?.messages ?? [])),
)

function lookUp(path: string): unknown {
  return path
    .slice(2)
    .split('/')
    .reduce((at: unknown, name) => (at as Record<string, unknown> | undefined)?.[name], document)
}

describe('asyncapi.json', () => {
  it('has two messages per channel: subscribe and data', () => {
    expect(sent).toEqual(expect.arrayContaining(CHANNELS.map(({ type }) => `subscribe.${type}`)))
    expect(brought).toEqual(expect.arrayContaining(CHANNELS.map(({ type }) => type)))
    for (const { type, frame } of CHANNELS) {
      expect(messages[`subscribe.${type}`]!.payload.properties.subscription).toMatchObject({
        properties: { type: { const: type } },
      })
      frame.parse(exampleOf(type))
    }
  })

  it('has an accepted example for every client frame', () => {
    expect(sent.length).toBe(CHANNELS.length + 4)
    for (const name of sent) expect(readFrame(JSON.stringify(exampleOf(name))).ok, name).toBe(true)
  })

  it('has no unused message', () => {
    expect(Object.keys(messages).filter((name) => ![...sent, ...brought].includes(name))).toEqual([])
  })

  it('has no dangling references', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref!)
    expect(refs.length).toBeGreaterThan(4 * CHANNELS.length)
    expect(refs.filter((ref) => lookUp(ref) === undefined)).toEqual([])
  })
})
