// The types of src/client/wire.ts and src/console/responses.ts, from the JSON schemas of requests, answers, bodies and frames: what users of the client
// package read in their editor, without zod.

import * as z from 'zod'
import { ENDPOINTS } from '../src/http/platform/catalogue.ts'
import { CATALOGUE } from '../src/info/queries/catalogue.ts'
import { publishedFrame } from '../src/relay/channel.ts'
import { CHANNELS } from '../src/relay/channels/catalogue.ts'

type Schema = Readonly<Record<string, unknown>>

const HEAD = `// Written by \`npm run generate\` from the schemas that the gateway parses with: what \`POST /info\` takes and answers, and what
// channels take and send. Values that may grow are any text, their known ones first.
`

/** Text of src/client/wire.ts. */
export function wireTypes(): string {
  const named = new Map<string, string>()
  const textOf = (schema: z.ZodType) => typeText(z.toJSONSchema(schema, { io: 'input' }) as Schema, named)
  const info = CATALOGUE.map(
    ({ type, summary, request, response }) =>
      `  /** ${summary}. */\n  ${type}: { request: ${textOf(request)}; answer: ${textOf(response)} }\n`,
  )
  const channels = CHANNELS.map(
    (channel) =>
      `  /** ${channel.summary}. */\n  ${channel.type}: { body: ${textOf(channel.request)}; frame: ${textOf(publishedFrame(channel))} }\n`,
  )
  const aliases = [...named].map(([name, text]) => `type ${name} = ${text}\n`)
  return [
    HEAD,
    aliases.join(''),
    `/** Types of \`POST /info\`. */\nexport interface InfoTypes {\n${info.join('')}}\n`,
    `/** Channels of \`/ws\`. */\nexport interface ChannelTypes {\n${channels.join('')}}\n`,
  ].join('\n')
}

/** Text of src/console/responses.ts: of each endpoint whose answer is named in these texts, without its envelope. */
export function responseTypes(texts: string): string {
  const named = new Map<string, string>()
  const answers = ENDPOINTS.filter(({ id }) => texts.includes(`Responses['${id}']`)).map(({ id, responses }) => {
    const { schema } = responses[201] ?? responses[200]!
    const body =
      schema instanceof z.ZodObject && 'error_code' in schema.shape ? (schema.shape.data as z.ZodType) : schema
    return `  ${id}: ${typeText(z.toJSONSchema(body) as Schema, named)}\n`
  })
  return [
    '// Written by `npm run generate` from the schemas of endpoints: the answers that the console and the commands name.\n',
    [...named].map(([name, text]) => `type ${name} = ${text}\n`).join(''),
    `/** By id of the endpoint. */\nexport interface Responses {\n${answers.join('')}}\n`,
  ].join('\n')
}

function typeText(root: Schema, named: Map<string, string>): string {
  const defs = (root.$defs ?? {}) as Readonly<Record<string, Schema>>
  const met = new Set<string>()
  const nameOf = (name: string): string => {
    const own = `${name[0]!.toUpperCase()}${name.slice(1)}`
    if (met.has(own)) return own
    met.add(own)
    const text = of(defs[name]!)
    if ((named.get(own) ?? text) !== text) throw new Error(`two schemas have the id ${name}: give one another`)
    named.set(own, text)
    return own
  }
  const of = (schema: Schema): string => {
    if (typeof schema.$ref === 'string') return nameOf(schema.$ref.slice('#/$defs/'.length))
    if ('const' in schema) return JSON.stringify(schema.const)
    if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
    const any = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined
    if (any) return union(any.map(of))
    if (Array.isArray(schema.type)) return union(schema.type.map((type) => of({ ...schema, type })))
    switch (schema.type) {
      case 'object':
        return objectText(schema, of)
      case 'array':
        if (Array.isArray(schema.prefixItems)) return `[${(schema.prefixItems as Schema[]).map(of).join(', ')}]`
        return schema.items ? `Array<${of(schema.items as Schema)}>` : 'unknown[]'
      case 'integer':
        return 'number'
      case 'string':
      case 'number':
      case 'boolean':
      case 'null':
        return schema.type
      default:
        return 'unknown'
    }
  }
  return of(root)
}

/** Known values stay visible beside any text. */
function union(texts: readonly string[]): string {
  const isOpen = texts.includes('string') && texts.some((text) => text.startsWith('"'))
  return [...new Set(texts)].map((text) => (isOpen && text === 'string' ? '(string & {})' : text)).join(' | ')
}

function objectText({ properties, required, additionalProperties }: Schema, of: (schema: Schema) => string): string {
  const needed = new Set(required as readonly string[] | undefined)
  const fields = Object.entries((properties ?? {}) as Record<string, Schema>).map(([name, schema]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
    return `${key}${needed.has(name) ? '' : '?'}: ${of(schema)}${needed.has(name) ? '' : ' | undefined'}`
  })
  if (fields.length > 0) return `{ ${fields.join('; ')} }`
  const isMap = typeof additionalProperties === 'object' && Object.keys(additionalProperties as Schema).length > 0
  return `Record<string, ${isMap ? of(additionalProperties as Schema) : 'unknown'}>`
}
